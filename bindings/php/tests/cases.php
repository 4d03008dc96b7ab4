<?php
// PHP's documented semantics, case by case: each is run with PHP's own functions and with
// Icecore's, in a separate process if necessary, and the results must be equal.
//
//   php -d extension=icecore.so cases.php [--with php] [--only PART-OF-NAME]
//
// A file of cases/ contains names and code. In the code $s and $u are serialize and unserialize of
// the current side; the output of the code, including warnings and exceptions, is compared. PHP's
// own output is the expectation.

declare(strict_types=1);

require __DIR__ . '/lib/Tap.php';
require __DIR__ . '/lib/Side.php';
require __DIR__ . '/lib/Outcome.php';
require __DIR__ . '/lib/Cases.php';

// Cases in which PHP acts only because it builds before it has seen the whole text. Icecore returns
// false there, and looks nothing up.
const WANTED = '/^classes: read C: of |^classes: enum (Q_E:|:A|\\\\Q_E:A) in |^scalars: read E:9:"stdClass:";/';

date_default_timezone_set('UTC');
$options = getopt('', ['with:', 'only:']);
$tap = new Tap;
$cases = new Cases(($options['with'] ?? '') === 'php' ? Side::php() : Side::icecore(), Side::php());
foreach (glob(__DIR__ . '/cases/*.php') as $file) {
    if (preg_match('/-(\d+)\.php$/', $file, $since) && PHP_VERSION_ID < (int) $since[1]) {
        $tap->skip(basename($file), 'this PHP is older');
        continue;
    }
    foreach ((static fn () => require $file)() as $name => $code) {
        $name = basename($file, '.php') . ": $name";
        if (!isset($options['only']) || str_contains($name, $options['only'])) {
            [$ours, $php] = $cases->both($code);
            if (preg_match(WANTED, $name) && $ours !== $php) {
                $tap->ok(str_contains($ours, 'false') && str_contains($ours, 'Error at offset') && !preg_match('/not found|not an enum|exception/', $ours), "$name: refused before building");
                continue;
            }
            $tap->ok($ours === $php, $name, "Icecore says\n" . preg_replace('/^/m', '    ', $ours) . "\nPHP says\n" . preg_replace('/^/m', '    ', $php));
        }
    }
}
exit($tap->done());

<?php
// Tests PHP's documented semantics, case by case. Each case is run with PHP's own functions and with
// Icecore's, and the outputs must be equal.
//
//   php -d extension=icecore.so cases.php [--with php] [--only PART-OF-NAME]
//
// A file of cases/ contains names and code. lib/Cases.php describes the variables that the code uses.
// The output of the code, including warnings and exceptions, is compared.

declare(strict_types=1);

require __DIR__ . '/lib/Tap.php';
require __DIR__ . '/lib/Implementation.php';
require __DIR__ . '/lib/Outcome.php';
require __DIR__ . '/lib/Cases.php';

// Cases in which PHP looks up a class before it has checked the whole text. Icecore returns false
// there, and looks up nothing.
const INTENDED_DIFFERENCES = '/^classes: read C: of |^classes: enum (Q_E:|:A|\\\\Q_E:A) in |^scalars: read E:9:"stdClass:";/';

date_default_timezone_set('UTC');
$options = getopt('', ['with:', 'only:']);
$tap = new Tap;
$cases = new Cases(($options['with'] ?? '') === 'php'
    ? Implementation::php() : Implementation::icecore(), Implementation::php());
foreach (glob(__DIR__ . '/cases/*.php') as $file) {
    if (preg_match('/-(\d+)\.php$/', $file, $since) && PHP_VERSION_ID < (int) $since[1]) {
        $tap->skip(basename($file), 'this PHP is older');
        continue;
    }
    foreach ((static fn () => require $file)() as $name => $code) {
        $name = basename($file, '.php') . ": $name";
        if (!isset($options['only']) || str_contains($name, $options['only'])) {
            [$ours, $php] = $cases->outputs($code);
            if (preg_match(INTENDED_DIFFERENCES, $name) && $ours !== $php) {
                $tap->ok(str_contains($ours, 'false') && str_contains($ours, 'Error at offset')
                    && !preg_match('/not found|not an enum|exception/', $ours),
                    "$name: the text is refused before building");
                continue;
            }
            $tap->ok($ours === $php, $name, "Icecore prints\n" . preg_replace('/^/m', '    ', $ours)
                . "\nPHP prints\n" . preg_replace('/^/m', '    ', $php));
        }
    }
}
exit($tap->done());

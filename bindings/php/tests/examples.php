<?php
// The examples, and those of the documentation, print the expected output next to them.
//
//   php -d extension=icecore.so examples.php
require __DIR__ . '/plugs/lib.php';
require __DIR__ . '/lib/Daemon.php';

/** The address of a daemon for programs that use one; null if there is none. */
function daemon(): ?string
{
    static $daemon = null;
    $daemon ??= Daemon::command() === null ? null : new Daemon();
    return $daemon?->url;
}

/** Returns the output of a program, with the current extension. */
function said(string ...$arguments): string
{
    $environment = getenv() + ['ICECORE_URL' => daemon()];
    $module = getenv('ICECORE_SO');
    $command = [PHP_BINARY, ...(is_string($module) && $module !== '' ? ['-d', "extension=$module"] : []), '-d', 'display_errors=stdout',
        '-d', 'html_errors=0', '-d', 'error_reporting=-1',
        '-d', 'include_path=.:' . dirname(__DIR__), ...$arguments];
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], STDERR], $pipes, null, $environment);
    $said = stream_get_contents($pipes[1]);
    proc_close($process);
    return $said;
}

foreach (glob(dirname(__DIR__) . '/examples/*.php') as $file) {
    $wanted = file_get_contents(substr($file, 0, -4) . '.out');
    same('examples/' . basename($file), $wanted, said($file));
}

// In a page a program is in a block of PHP, and its output in the block after it.
$pages = [dirname(__DIR__) . '/README.md', dirname(__DIR__, 3) . '/docs/php.md'];
foreach (array_filter($pages, 'is_file') as $page) {
    preg_match_all('/```php\n(.*?)```(?:\s*```text\n(.*?)```)?/s', file_get_contents($page), $blocks, PREG_SET_ORDER);
    foreach ($blocks as $at => $block) {
        if (str_contains($block[1], 'Icecore\\Client') && daemon() === null) {
            echo 'left out: ', basename($page), ', program ', $at + 1, ": the command icecore is not built\n";
            continue;
        }
        $file = tempnam(sys_get_temp_dir(), 'icecore');
        file_put_contents($file, (str_starts_with($block[1], '<?php') ? '' : "<?php\n") . $block[1]);
        $said = said($file);
        unlink($file);
        same(basename(dirname($page)) . '/' . basename($page) . ', program ' . $at + 1, $block[2] ?? '', str_replace($file, 'program.php', $said));
    }
}
finish();

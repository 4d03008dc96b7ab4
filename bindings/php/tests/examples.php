<?php
// Checks that the examples, and the programs in the documentation, print their expected output.
//
//   php -d extension=icecore.so examples.php
require __DIR__ . '/registration/lib.php';
require __DIR__ . '/lib/Daemon.php';

/** Returns the address of a daemon for programs that use one; null if the command is not built. */
function daemon_url(): ?string
{
    static $daemon = null;
    $daemon ??= Daemon::command() === null ? null : new Daemon();
    return $daemon?->url;
}

/** Runs a program with the current extension, and returns its output. */
function run_program(string ...$arguments): string
{
    $environment = getenv() + ['ICECORE_URL' => daemon_url()];
    $module = getenv('ICECORE_SO');
    $command = [PHP_BINARY, ...(is_string($module) && $module !== '' ? ['-d', "extension=$module"] : []), '-d',
        'display_errors=stdout',
        '-d', 'html_errors=0', '-d', 'error_reporting=-1',
        '-d', 'include_path=.:' . dirname(__DIR__), ...$arguments];
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], STDERR], $pipes, null, $environment);
    $output = stream_get_contents($pipes[1]);
    proc_close($process);
    return $output;
}

foreach (glob(dirname(__DIR__) . '/examples/*.php') as $file) {
    $expected = file_get_contents(substr($file, 0, -4) . '.out');
    same('examples/' . basename($file) . ' prints its output', $expected, run_program($file));
}

// In a page, each program is in a block of PHP, and its output in the block after it.
$pages = [dirname(__DIR__) . '/README.md', dirname(__DIR__, 3) . '/docs/php.md'];
foreach (array_filter($pages, 'is_file') as $page) {
    preg_match_all('/```php\n(.*?)```(?:\s*```text\n(.*?)```)?/s', file_get_contents($page), $blocks, PREG_SET_ORDER);
    foreach ($blocks as $index => $block) {
        if (str_contains($block[1], 'Icecore\\Client') && daemon_url() === null) {
            echo 'left out: ', basename($page), ', program ', $index + 1, ": the command icecore is not built\n";
            continue;
        }
        $file = tempnam(sys_get_temp_dir(), 'icecore');
        file_put_contents($file, (str_starts_with($block[1], '<?php') ? '' : "<?php\n") . $block[1]);
        $output = run_program($file);
        unlink($file);
        same(basename(dirname($page)) . '/' . basename($page) . ', program ' . $index + 1
            . ' prints its output', $block[2] ?? '', str_replace($file, 'program.php', $output));
    }
}
finish();

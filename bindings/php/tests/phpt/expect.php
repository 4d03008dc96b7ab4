<?php
// Writes the expectations of new tests: runs each file that has none with the current PHP and
// appends its output. Read the result: an expectation that nobody understood is not a test.
//
//   php expect.php [--anew] [--with icecore.so] FILE.phpt…
//
//   --anew    also files that have an expectation; one that was written by hand is lost
//   --with    with the extension: for icecore/, whose expectations PHP alone can't produce
//
// Details on which no program can rely become patterns: files, lines, object ids, and the level of
// unserialize's messages, which is Notice until PHP 8.2 and Warning from 8.3 on.

declare(strict_types=1);

// The values that run-tests.php sets and that are visible in the output.
const INI = ['error_reporting=32767', 'display_errors=1', 'log_errors=0', 'html_errors=0', 'precision=14', 'serialize_precision=-1', 'memory_limit=128M', 'zend.assertions=1', 'zend.exception_ignore_args=0'];

const PATTERNS = [
    '/ in \S+\.php on line \d+/' => ' in %s on line %d',
    '/ in \S+\.php:\d+/' => ' in %s:%d',
    '/\S+\.php\((\d+)\)/' => '%s(%d)',
    '/(?<=[)\w])#\d+ \(/' => '#%d (',
    '/^Notice: (?=unserialize\(\))/m' => '%s: ',
];

function sections(string $text): array
{
    $parts = preg_split('/^--([A-Z_]+)--\n/m', $text, -1, PREG_SPLIT_DELIM_CAPTURE);
    $sections = [];
    for ($i = 1; $i < count($parts); $i += 2) {
        $sections[$parts[$i]] = $parts[$i + 1];
    }
    return $sections;
}

// Returns the standard output of a program, with the ini values of a file.
function run(string $code, string $ini, string $file): string
{
    global $with;
    file_put_contents($file, $code);
    $command = [PHP_BINARY];
    foreach ([...INI, ...$with, ...array_filter(explode("\n", $ini))] as $value) {
        array_push($command, '-d', $value);
    }
    $process = proc_open([...$command, '-f', $file], [1 => ['pipe', 'w']], $pipes);
    $said = stream_get_contents($pipes[1]);
    proc_close($process);
    return trim(str_replace("\r\n", "\n", $said));
}

$options = getopt('', ['anew', 'with:'], $first);
$anew = isset($options['anew']);
$with = isset($options['with']) ? ['extension=' . realpath($options['with']), 'icecore.replace=1'] : [];
$program = tempnam(sys_get_temp_dir(), 'phpt');
rename($program, $program .= '.php');
foreach (array_slice($argv, $first) as $name) {
    $text = file_get_contents($name);
    $has = sections($text);
    if (!$anew && (isset($has['EXPECT']) || isset($has['EXPECTF']))) {
        continue;
    }
    if (isset($has['SKIPIF']) && str_starts_with(run($has['SKIPIF'], $has['INI'] ?? '', $program), 'skip')) {
        echo "$name: left out\n";
        continue;
    }
    $said = run($has['FILE'], $has['INI'] ?? '', $program);
    // A pattern may contain percent signs only if the text has none.
    $pattern = $said;
    foreach (PATTERNS as $from => $to) {
        $pattern = preg_replace($from, $to, $pattern);
    }
    $section = $pattern === $said ? "--EXPECT--\n$said\n" : "--EXPECTF--\n$pattern\n";
    if ($pattern !== $said && preg_match('/%[sSaAewidxfc0r]/', $said)) {
        echo "$name: its output has percent signs and needs an EXPECTF by hand\n";
    }
    file_put_contents($name, preg_replace('/^--EXPECTF?--\n.*/ms', '', $text) . $section);
    echo "$name\n";
}
unlink($program);

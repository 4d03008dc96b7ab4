<?php
// Writes the expectations of new tests: runs each file that has none with the current PHP, and appends
// the output. Read and understand the result before you commit it.
//
//   php expect.php [--replace] [--with icecore.so] FILE.phpt…
//
//   --replace  replaces existing expectations, even those that were written by hand
//   --with     loads the extension: for icecore/, whose expectations PHP alone can't produce
//
// Details that vary become patterns: files, lines, object ids, and the level of unserialize's messages,
// which is Notice up to PHP 8.2 and Warning from 8.3 on.

declare(strict_types=1);

// Ini values that run-tests.php sets and that affect the output.
const INI = ['error_reporting=32767', 'display_errors=1', 'log_errors=0', 'html_errors=0', 'precision=14',
    'serialize_precision=-1', 'memory_limit=128M', 'zend.assertions=1', 'zend.exception_ignore_args=0'];

const PATTERNS = [
    '/ in \S+\.php on line \d+/' => ' in %s on line %d',
    '/ in \S+\.php:\d+/' => ' in %s:%d',
    '/\S+\.php\((\d+)\)/' => '%s(%d)',
    '/(?<=[)\w])#\d+ \(/' => '#%d (',
    '/^Notice: (?=unserialize\(\))/m' => '%s: ',
];

/** Returns the sections of a test by name. */
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
    $output = stream_get_contents($pipes[1]);
    proc_close($process);
    return trim(str_replace("\r\n", "\n", $output));
}

$options = getopt('', ['replace', 'with:'], $first);
$mayReplace = isset($options['replace']);
$with = isset($options['with']) ? ['extension=' . realpath($options['with']), 'icecore.replace=1'] : [];
$program = tempnam(sys_get_temp_dir(), 'phpt');
rename($program, $program .= '.php');
foreach (array_slice($argv, $first) as $name) {
    $text = file_get_contents($name);
    $sections = sections($text);
    if (!$mayReplace && (isset($sections['EXPECT']) || isset($sections['EXPECTF']))) {
        continue;
    }
    if (isset($sections['SKIPIF'])
        && str_starts_with(run($sections['SKIPIF'], $sections['INI'] ?? '', $program), 'skip')) {
        echo "$name: left out\n";
        continue;
    }
    $output = run($sections['FILE'], $sections['INI'] ?? '', $program);
    // Percent signs in the output would be taken for patterns.
    $pattern = $output;
    foreach (PATTERNS as $from => $to) {
        $pattern = preg_replace($from, $to, $pattern);
    }
    $section = $pattern === $output ? "--EXPECT--\n$output\n" : "--EXPECTF--\n$pattern\n";
    if ($pattern !== $output && preg_match('/%[sSaAewidxfc0r]/', $output)) {
        echo "$name: its output has percent signs and needs an EXPECTF by hand\n";
    }
    file_put_contents($name, preg_replace('/^--EXPECTF?--\n.*/ms', '', $text) . $section);
    echo "$name\n";
}
unlink($program);

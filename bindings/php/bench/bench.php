<?php
// Compares the times of Icecore, PHP's own serializer and igbinary, which run alternately in one
// process. First checks that the results are equal. Prints medians of paired ratios. The times include
// freeing the results.
//
//   php bench.php [--only WORD] [--rounds N] [--json | --markdown]
//
// --markdown prints the tables of docs/bench/engine.md, with the target in brackets if it is not
// reached. --only selects the parts with the word in their names: read, write, ints, small, memory,
// flat, first. The extension is the loaded one, or modules/icecore.so.

namespace IcecoreBench;

if (!extension_loaded('icecore')) {
    $module = getenv('ICECORE_SO') ?: dirname(__DIR__) . '/modules/icecore.so';
    if (!is_file($module)) {
        fwrite(STDERR, "$module is missing: make modules\n");
        exit(1);
    }
    $command = array_merge([PHP_BINARY, '-d', "extension=$module", '-d', 'memory_limit=-1', '-d',
        'display_errors=stderr'], $argv);
    $process = proc_open($command, [STDIN, STDOUT, STDERR], $pipes);
    exit(proc_close($process));
}
require __DIR__ . '/values.php';

$options = getopt('', ['only:', 'rounds:', 'json', 'markdown', 'first-call:']);
$only = $options['only'] ?? '';
$rounds = (int) ($options['rounds'] ?? 15);
\Icecore\allow('IcecoreBench\*');

if (isset($options['first-call'])) {
    first_call($options['first-call']);
    exit;
}

$has_igbinary = \function_exists('igbinary_serialize');
$writers = ['php' => \serialize(...), 'icecore' => \Icecore\serialize(...)]
    + ($has_igbinary ? ['igbinary' => \igbinary_serialize(...)] : []);
$report = ['php' => PHP_VERSION, 'icecore' => phpversion('icecore'),
    'igbinary' => $has_igbinary ? phpversion('igbinary') : null, 'times' => [],
    'memory' => [], 'flat' => [], 'first' => []];

// -- Times ---------------------------------------------------------------------

/** Returns the time of `times` calls in nanoseconds. Each call's result is freed. */
function sample(string $serializer, string $operation, mixed $input, int $times): int
{
    gc_collect_cycles();
    $i = $times;
    // Each call is written out, as in a program.
    switch ("$serializer $operation") {
        case 'php read':
            $start = hrtime(true);
            while ($i-- > 0) {
                \unserialize($input);
            }
            break;
        case 'icecore read':
            $start = hrtime(true);
            while ($i-- > 0) {
                \Icecore\unserialize($input);
            }
            break;
        case 'igbinary read':
            $start = hrtime(true);
            while ($i-- > 0) {
                \igbinary_unserialize($input);
            }
            break;
        case 'php write':
            $start = hrtime(true);
            while ($i-- > 0) {
                \serialize($input);
            }
            break;
        case 'icecore write':
            $start = hrtime(true);
            while ($i-- > 0) {
                \Icecore\serialize($input);
            }
            break;
        case 'igbinary write':
            $start = hrtime(true);
            while ($i-- > 0) {
                \igbinary_serialize($input);
            }
            break;
    }
    return hrtime(true) - $start;
}

function median(array $numbers): float
{
    sort($numbers);
    $half = intdiv(count($numbers), 2);
    return count($numbers) % 2 ? $numbers[$half] : ($numbers[$half - 1] + $numbers[$half]) / 2;
}

/**
 * Returns samples for each serializer, in nanoseconds per call. They run alternately, and each round
 * begins with another one.
 */
function measure(string $operation, array $inputs, int $rounds): array
{
    $times = 1;
    while (sample('php', $operation, $inputs['php'], $times) < 4_000_000) {
        $times *= 2;
    }
    $samples = [];
    $order = array_keys($inputs);
    for ($round = 0; $round <= $rounds; $round++) {
        foreach ($order as $serializer) {
            $ns = sample($serializer, $operation, $inputs[$serializer], $times) / $times;
            // The first round is not counted, because caches are empty.
            if ($round > 0) {
                $samples[$serializer][] = $ns;
            }
        }
        $order[] = array_shift($order);
    }
    return $samples;
}

/** Returns the median of the ratios of two times that were measured in the same round. */
function paired_ratio(array $other_times, array $icecore_times): float
{
    return median(array_map(fn ($other, $icecore) => $other / $icecore, $other_times, $icecore_times));
}

/** Ends the program if Icecore's results differ from PHP's. */
function require_same_results(string $name, mixed $value, array $written): void
{
    $text = \serialize($value);
    if ($written['icecore'] !== $text) {
        fwrite(STDERR, "$name: Icecore does not write the same text as PHP\n");
        exit(1);
    }
    // Many readonly objects can't be compared by ==, but their text has all of their content.
    foreach ([\Icecore\unserialize($text), \unserialize($text)] as $read) {
        if (\serialize($read) !== $text || gettype($read) !== gettype($value)) {
            fwrite(STDERR, "$name: the value that was read differs\n");
            exit(1);
        }
    }
}

function is_selected(string $words): bool
{
    global $only;
    return $only === '' || str_contains($words, $only);
}

function show(string $line): void
{
    global $options;
    if (!isset($options['json']) && !isset($options['markdown'])) {
        echo $line, "\n";
    }
}

function time_text(float $ns): string
{
    return match (true) {
        $ns < 10_000 => sprintf('%.0f ns', $ns),
        $ns < 10_000_000 => sprintf('%.1f us', $ns / 1e3),
        default => sprintf('%.2f ms', $ns / 1e6),
    };
}

show('PHP ' . PHP_VERSION . ', Icecore ' . phpversion('icecore')
    . ($has_igbinary ? ', igbinary ' . phpversion('igbinary') : '') . ", $rounds rounds");
$heading = sprintf('%-6s %-30s %8s %10s %10s %10s %7s %7s %9s', '', '', 'bytes', 'PHP', 'Icecore', 'igbinary',
    'times', 'wanted', 'igbinary');
$has_heading = false;
foreach (SHAPES as $name => $goals) {
    foreach (['read' => $goals[0], 'write' => $goals[1]] as $operation => $goal) {
        if (!is_selected("$operation, $name")) {
            continue;
        }
        $value = shape($name);
        $written = array_map(fn ($write) => $write($value), $writers);
        require_same_results($name, $value, $written);
        // Each serializer gets a value of its own: igbinary gives each object a hash table of properties,
        // which the others would then have to walk.
        unset($value);
        $inputs = $operation === 'read' ? $written : array_map(fn () => shape($name), $written);
        $samples = measure($operation, $inputs, $rounds);
        unset($inputs);
        $ratio = paired_ratio($samples['php'], $samples['icecore']);
        $row = ['operation' => $operation, 'shape' => $name, 'bytes' => strlen($written['php']),
            'ns' => array_map(median(...), $samples),
            'times' => $ratio, 'wanted' => $goal,
            'times igbinary' => $has_igbinary ? paired_ratio($samples['igbinary'], $samples['icecore']) : null];
        $report['times'][] = $row;
        if (!$has_heading) {
            show($heading);
            $has_heading = true;
        }
        show(sprintf('%-6s %-30s %8d %10s %10s %10s %7.2f %7.2f %9s%s', $operation, $name, $row['bytes'],
            time_text($row['ns']['php']),
            time_text($row['ns']['icecore']), $has_igbinary ? time_text($row['ns']['igbinary']) : '-', $ratio, $goal,
            $has_igbinary ? sprintf('%.2f', $row['times igbinary']) : '-', $ratio < $goal ? '  below' : ''));
        unset($written, $samples);
    }
}

// -- Memory --------------------------------------------------------------------

/** Returns the size of a value that was read, in bytes. */
function memory_of(callable $read, string $bytes): int
{
    $read($bytes);
    gc_collect_cycles();
    $before = memory_get_usage();
    $value = $read($bytes);
    return memory_get_usage() - $before;
}

if (is_selected('memory')) {
    show(sprintf("\n%-37s %12s %12s %12s", 'memory of the values, bytes', 'PHP', 'Icecore', 'igbinary'));
    foreach (array_keys(SHAPES) as $name) {
        $value = shape($name);
        $written = array_map(fn ($write) => $write($value), $writers);
        unset($value);
        $row = ['php' => memory_of(\unserialize(...), $written['php']),
            'icecore' => memory_of(\Icecore\unserialize(...), $written['icecore'])]
            + ($has_igbinary ? ['igbinary' => memory_of(\igbinary_unserialize(...), $written['igbinary'])] : []);
        $report['memory'][$name] = $row;
        show(sprintf('%-37s %12d %12d %12s%s', $name, $row['php'], $row['icecore'], $row['igbinary'] ?? '-',
            $row['icecore'] > $row['php'] ? '  above' : ''));
    }
}

// -- Cost per object -----------------------------------------------------------

if (is_selected('flat')) {
    show(sprintf("\n%-37s %12s %12s", 'ns per typed object', 'PHP', 'Icecore'));
    foreach ([1_000, 10_000, 100_000] as $count) {
        $value = typed($count);
        $text = \serialize($value);
        foreach (['read' => $text, 'write' => $value] as $operation => $input) {
            $samples = measure($operation, ['php' => $input, 'icecore' => $input], max(5, intdiv($rounds, 2)));
            $row = array_map(fn ($all) => median($all) / $count, $samples);
            $report['flat'][] = ['operation' => $operation, 'count' => $count] + $row;
            show(sprintf('%-6s %-30s %12.1f %12.1f', $operation, number_format($count), $row['php'],
                $row['icecore']));
        }
        unset($value, $text, $input);
    }
}

// -- The first call in a process -----------------------------------------------

function first_call(string $what): void
{
    [$serializer, $operation] = explode(' ', $what);
    $value = shape('small: session');
    $input = $operation === 'read' ? 'a:2:{i:0;s:3:"abc";s:1:"k";d:0.5;}' : $value;
    echo sample($serializer, $operation, $input, 1);
}

if (is_selected('first')) {
    show(sprintf("\n%-37s %12s %12s", 'the first call in a process', 'PHP', 'Icecore'));
    $loaded = is_file($module = getenv('ICECORE_SO') ?: dirname(__DIR__) . '/modules/icecore.so')
        ? ['-d', "extension=$module"] : [];
    foreach (['read', 'write'] as $operation) {
        $samples = [];
        for ($round = 0; $round < $rounds; $round++) {
            foreach (['php', 'icecore'] as $serializer) {
                $process = proc_open([PHP_BINARY, ...$loaded, __FILE__, '--first-call', "$serializer $operation"],
                    [1 => ['pipe', 'w'], 2 => STDERR], $pipes);
                $samples[$serializer][] = (float) stream_get_contents($pipes[1]);
                proc_close($process);
            }
        }
        $row = array_map(median(...), $samples);
        $report['first'][$operation] = $row;
        show(sprintf('%-37s %12s %12s', $operation, time_text($row['php']), time_text($row['icecore'])));
    }
}

/** The report as tables. */
function markdown(array $report): string
{
    $text = '';
    foreach (['' => 'times', ' igbinary' => 'times igbinary'] as $against => $key) {
        foreach (['read', 'write'] as $operation) {
            $rows = array_filter($report['times'],
                fn ($row) => $row['operation'] === $operation && $row[$key] !== null);
            if (!$rows) {
                continue;
            }
            $text .= $text === '' ? '| against | ' . implode(' | ', array_column($rows, 'shape')) . " |\n|---|"
                . str_repeat('--:|', count($rows)) . "\n" : '';
            $text .= '|' . ($against === '' ? ' PHP' : $against) . ", $operation |"
                . implode('', array_map(fn ($row) => sprintf(' %.2f%s |', $row[$key],
                $against === '' && $row[$key] < $row['wanted'] ? " ({$row['wanted']})" : ''), $rows)) . "\n";
        }
    }
    if ($report['memory']) {
        $text .= "\n| memory of what was read, kB | PHP | Icecore | igbinary |\n|---|--:|--:|--:|\n";
        foreach ($report['memory'] as $shape => $row) {
            $text .= "| $shape | " . implode(' | ', array_map(fn ($bytes) => number_format($bytes / 1000, 1), $row))
                . " |\n";
        }
    }
    if ($report['flat']) {
        $text .= "\n| ns a typed object | PHP | Icecore |\n|---|--:|--:|\n";
        foreach ($report['flat'] as $row) {
            $text .= sprintf("| %s, %s objects | %.0f | %.0f |\n", $row['operation'], number_format($row['count']),
                $row['php'], $row['icecore']);
        }
    }
    foreach ($report['first'] as $operation => $row) {
        $text .= sprintf("\nThe first %s in a process: PHP %s, Icecore %s.\n", $operation, time_text($row['php']),
            time_text($row['icecore']));
    }
    return $text;
}

if (isset($options['markdown'])) {
    echo markdown($report);
}
if (isset($options['json'])) {
    echo json_encode($report, JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE), "\n";
}

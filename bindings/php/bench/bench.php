<?php
// Times Icecore against PHP's own serializer and igbinary: in one process, alternately; the results
// are compared first. Medians of paired ratios, freeing included.
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
    $command = array_merge([PHP_BINARY, '-d', "extension=$module", '-d', 'memory_limit=-1', '-d', 'display_errors=stderr'], $argv);
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
$writers = ['php' => \serialize(...), 'icecore' => \Icecore\serialize(...)] + ($has_igbinary ? ['igbinary' => \igbinary_serialize(...)] : []);
$report = ['php' => PHP_VERSION, 'icecore' => phpversion('icecore'), 'igbinary' => $has_igbinary ? phpversion('igbinary') : null, 'times' => [],
    'memory' => [], 'flat' => [], 'first' => []];

// -- Times ---------------------------------------------------------------------

/** Returns the nanoseconds of `times` calls; each frees its result. */
function sample(string $who, string $operation, mixed $input, int $times): int
{
    gc_collect_cycles();
    $i = $times;
    // The calls are written as a program would write them.
    switch ("$who $operation") {
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

/** Returns nanoseconds per call for each participant, alternately; each round begins with another one. */
function measure(string $operation, array $inputs, int $rounds): array
{
    $times = 1;
    while (sample('php', $operation, $inputs['php'], $times) < 4_000_000) {
        $times *= 2;
    }
    $taken = [];
    $order = array_keys($inputs);
    for ($round = 0; $round <= $rounds; $round++) {
        foreach ($order as $who) {
            $ns = sample($who, $operation, $inputs[$who], $times) / $times;
            // The first round warms up.
            if ($round > 0) {
                $taken[$who][] = $ns;
            }
        }
        $order[] = array_shift($order);
    }
    return $taken;
}

function paired(array $theirs, array $ours): float
{
    return median(array_map(fn ($theirs, $ours) => $theirs / $ours, $theirs, $ours));
}

function same_or_stop(string $name, mixed $value, array $written): void
{
    $text = \serialize($value);
    if ($written['icecore'] !== $text) {
        fwrite(STDERR, "$name: Icecore wrote something else than PHP\n");
        exit(1);
    }
    // A large number of readonly objects can't be compared by ==, but their text contains
    // everything.
    foreach ([\Icecore\unserialize($text), \unserialize($text)] as $read) {
        if (\serialize($read) !== $text || gettype($read) !== gettype($value)) {
            fwrite(STDERR, "$name: what was read is something else\n");
            exit(1);
        }
    }
}

function is_wanted(string $words): bool
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
    return $ns < 10_000 ? sprintf('%.0f ns', $ns) : ($ns < 10_000_000 ? sprintf('%.1f us', $ns / 1e3) : sprintf('%.2f ms', $ns / 1e6));
}

show('PHP ' . PHP_VERSION . ', Icecore ' . phpversion('icecore') . ($has_igbinary ? ', igbinary ' . phpversion('igbinary') : '') . ", $rounds rounds");
$heading = sprintf('%-6s %-30s %8s %10s %10s %10s %7s %7s %9s', '', '', 'bytes', 'PHP', 'Icecore', 'igbinary', 'times', 'wanted', 'igbinary');
$has_heading = false;
foreach (SHAPES as $name => $goals) {
    foreach (['read' => $goals[0], 'write' => $goals[1]] as $operation => $goal) {
        if (!is_wanted("$operation, $name")) {
            continue;
        }
        $value = shape($name);
        $written = array_map(fn ($write) => $write($value), $writers);
        same_or_stop($name, $value, $written);
        // Each has a value of its own: igbinary leaves a table of properties at each object, which
        // the others would then have to walk.
        unset($value);
        $taken = measure($operation, $operation === 'read' ? $written : array_map(fn () => shape($name), $written), $rounds);
        $ratio = paired($taken['php'], $taken['icecore']);
        $row = ['operation' => $operation, 'shape' => $name, 'bytes' => strlen($written['php']), 'ns' => array_map(median(...), $taken),
            'times' => $ratio, 'wanted' => $goal, 'times igbinary' => $has_igbinary ? paired($taken['igbinary'], $taken['icecore']) : null];
        $report['times'][] = $row;
        if (!$has_heading) {
            show($heading);
            $has_heading = true;
        }
        show(sprintf('%-6s %-30s %8d %10s %10s %10s %7.2f %7.2f %9s%s', $operation, $name, $row['bytes'], time_text($row['ns']['php']),
            time_text($row['ns']['icecore']), $has_igbinary ? time_text($row['ns']['igbinary']) : '-', $ratio, $goal,
            $has_igbinary ? sprintf('%.2f', $row['times igbinary']) : '-', $ratio < $goal ? '  below' : ''));
        unset($written, $taken);
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

if (is_wanted('memory')) {
    show(sprintf("\n%-37s %12s %12s %12s", 'memory of what was read, bytes', 'PHP', 'Icecore', 'igbinary'));
    foreach (array_keys(SHAPES) as $name) {
        $value = shape($name);
        $written = array_map(fn ($write) => $write($value), $writers);
        unset($value);
        $row = ['php' => memory_of(\unserialize(...), $written['php']), 'icecore' => memory_of(\Icecore\unserialize(...), $written['icecore'])]
            + ($has_igbinary ? ['igbinary' => memory_of(\igbinary_unserialize(...), $written['igbinary'])] : []);
        $report['memory'][$name] = $row;
        show(sprintf('%-37s %12d %12d %12s%s', $name, $row['php'], $row['icecore'], $row['igbinary'] ?? '-',
            $row['icecore'] > $row['php'] ? '  above' : ''));
    }
}

// -- Cost per object -----------------------------------------------------------

if (is_wanted('flat')) {
    show(sprintf("\n%-37s %12s %12s", 'ns per typed object', 'PHP', 'Icecore'));
    foreach ([1_000, 10_000, 100_000] as $count) {
        $value = typed($count);
        $text = \serialize($value);
        foreach (['read' => $text, 'write' => $value] as $operation => $input) {
            $taken = measure($operation, ['php' => $input, 'icecore' => $input], max(5, intdiv($rounds, 2)));
            $row = array_map(fn ($all) => median($all) / $count, $taken);
            $report['flat'][] = ['operation' => $operation, 'count' => $count] + $row;
            show(sprintf('%-6s %-30s %12.1f %12.1f', $operation, number_format($count), $row['php'], $row['icecore']));
        }
        unset($value, $text, $input);
    }
}

// -- The first call in a process -----------------------------------------------

function first_call(string $what): void
{
    [$who, $operation] = explode(' ', $what);
    $value = shape('small: session');
    $input = $operation === 'read' ? 'a:2:{i:0;s:3:"abc";s:1:"k";d:0.5;}' : $value;
    echo sample($who, $operation, $input, 1);
}

if (is_wanted('first')) {
    show(sprintf("\n%-37s %12s %12s", 'the first call in a process', 'PHP', 'Icecore'));
    $loaded = is_file($module = getenv('ICECORE_SO') ?: dirname(__DIR__) . '/modules/icecore.so') ? ['-d', "extension=$module"] : [];
    foreach (['read', 'write'] as $operation) {
        $taken = [];
        for ($round = 0; $round < $rounds; $round++) {
            foreach (['php', 'icecore'] as $who) {
                $process = proc_open([PHP_BINARY, ...$loaded, __FILE__, '--first-call', "$who $operation"], [1 => ['pipe', 'w'], 2 => STDERR], $pipes);
                $taken[$who][] = (float) stream_get_contents($pipes[1]);
                proc_close($process);
            }
        }
        $row = array_map(median(...), $taken);
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
            $rows = array_filter($report['times'], fn ($row) => $row['operation'] === $operation && $row[$key] !== null);
            if (!$rows) {
                continue;
            }
            $text .= $text === '' ? '| against | ' . implode(' | ', array_column($rows, 'shape')) . " |\n|---|" . str_repeat('--:|', count($rows)) . "\n" : '';
            $text .= '|' . ($against === '' ? ' PHP' : $against) . ", $operation |" . implode('', array_map(fn ($row) => sprintf(' %.2f%s |', $row[$key],
                $against === '' && $row[$key] < $row['wanted'] ? " ({$row['wanted']})" : ''), $rows)) . "\n";
        }
    }
    if ($report['memory']) {
        $text .= "\n| memory of what was read, kB | PHP | Icecore | igbinary |\n|---|--:|--:|--:|\n";
        foreach ($report['memory'] as $shape => $row) {
            $text .= "| $shape | " . implode(' | ', array_map(fn ($bytes) => number_format($bytes / 1000, 1), $row)) . " |\n";
        }
    }
    if ($report['flat']) {
        $text .= "\n| ns a typed object | PHP | Icecore |\n|---|--:|--:|\n";
        foreach ($report['flat'] as $row) {
            $text .= sprintf("| %s, %s objects | %.0f | %.0f |\n", $row['operation'], number_format($row['count']), $row['php'], $row['icecore']);
        }
    }
    foreach ($report['first'] as $operation => $row) {
        $text .= sprintf("\nThe first %s in a process: PHP %s, Icecore %s.\n", $operation, time_text($row['php']), time_text($row['icecore']));
    }
    return $text;
}

if (isset($options['markdown'])) {
    echo markdown($report);
}
if (isset($options['json'])) {
    echo json_encode($report, JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE), "\n";
}

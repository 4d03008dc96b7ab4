<?php
// Reads random texts with objects that a class wrote itself (`C:`), most of them changed, by PHP's own unserialize
// and by Icecore's in its place (icecore.replace=1). Results, warnings, exceptions and calls of the classes must be
// the same.
//
//   php custom-chance.php --extension icecore.so [--seed N] [--count N] [--show N]
//
// Each side is a separate process (--side). It prints the outcome of each text.

declare(strict_types=1);

require __DIR__ . '/lib/Outcome.php';
require __DIR__ . '/lib/Chance/Rng.php';
require __DIR__ . '/lib/Custom/classes.php';
require __DIR__ . '/lib/Custom/Texts.php';

$options = getopt('', ['extension:', 'seed:', 'count:', 'from:', 'show:', 'side', 'kind:']);
$seed = (int) ($options['seed'] ?? 1);
$count = (int) ($options['count'] ?? 600);
$from = (int) ($options['from'] ?? 0);
$show = (int) ($options['show'] ?? 10);

/** Prints the outcomes of all texts, one a line. */
function print_outcomes(int $seed, int $from, int $count): void
{
    for ($case = $from; $case < $from + $count; $case++) {
        Rng::seed($seed, $case);
        [$text, $arguments] = Texts::random();
        $outcome = Outcome::of(fn () => unserialize($text, $arguments));
        echo json_encode([$text, $arguments, $outcome->text()], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    }
}

/** Returns the outcomes that a process of this test prints. */
function outcomes_of(array $settings, int $seed, int $from, int $count): array
{
    $command = [PHP_BINARY, ...$settings, __FILE__, '--side', '--seed', (string) $seed, '--from', (string) $from, '--count',
        (string) $count];
    $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
    $lines = explode("\n", rtrim(stream_get_contents($pipes[1]), "\n"));
    $code = proc_close($process);
    if ($code !== 0) {
        $lines[] = "exit code $code";
    }
    return $lines;
}

if (isset($options['side'])) {
    print_outcomes($seed, $from, $count);
    exit(0);
}

$settings = ['-n', '-d', 'display_errors=stderr', '-d', 'serialize_precision=-1', '-d', 'precision=14'];
$php = outcomes_of($settings, $seed, $from, $count);
$ours = outcomes_of([...$settings, '-d', 'extension=' . realpath($options['extension']), '-d', 'icecore.replace=1'],
    $seed, $from, $count);
$failed = $intended = 0;
for ($case = 0; $case < max(count($php), count($ours)); $case++) {
    $expected = $php[$case] ?? 'nothing';
    $actual = $ours[$case] ?? 'nothing';
    if ($expected === $actual) {
        continue;
    }
    [$text, $arguments, $outcome] = json_decode($expected, true) ?? ['', [], $expected];
    $our_outcome = json_decode($actual, true)[2] ?? $actual;
    if (Texts::mayDiffer($text, $arguments, $our_outcome)) {
        $intended++;
        continue;
    }
    if ($failed++ < $show) {
        echo 'not ok - --seed ', $seed, ' --from ', $from + $case, " --count 1\n    ", Shape::string($text), ' ',
            json_encode($arguments), "\n    PHP: ", str_replace("\n", "\n         ", $outcome), "\n    ours: ",
            str_replace("\n", "\n          ", $our_outcome), "\n";
    }
}
echo "# intended differences: $intended\n", $count - $failed - $intended, " passed, $failed failed\n";
exit($failed === 0 ? 0 : 1);

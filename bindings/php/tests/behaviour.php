<?php
// Runs the behaviour list that every language must pass (bindings/common/behaviour): a test for each
// line. Then it runs lines that must fail.
//
//   php -d extension=icecore.so behaviour.php [--only PART-OF-ID]

declare(strict_types=1);

require __DIR__ . '/lib/Tap.php';
require __DIR__ . '/lib/Behaviour.php';

// The driver reports errors; PHP's notices are checked where they are expected.
error_reporting(E_ALL);
ini_set('memory_limit', '2G');
set_error_handler(fn () => true);

$folders = array_filter([__DIR__ . '/behaviour', __DIR__ . '/../../common/behaviour'],
    fn ($folder) => is_file("$folder/README.md"));
$tap = new Tap;
if (!$folders) {
    $tap->skip('behaviour', 'the behaviour list is missing');
    exit($tap->done());
}
$only = $argv[array_search('--only', $argv, true) + 1] ?? null;
$only = in_array('--only', $argv, true) ? $only : null;

$counts = ['passed' => 0, 'failed' => 0, 'skipped' => 0, 'open' => 0];
$seen = [];
foreach (glob(reset($folders) . '/*.jsonl') as $file) {
    foreach (Behaviour::lines($file) as $line) {
        if ($only !== null && !str_contains($line['id'], $only)) {
            continue;
        }
        if (isset($seen[$line['id']])) {
            $tap->ok(false, "the id $line[id] is unique");
        }
        $seen[$line['id']] = true;
        [$verdict, $why] = Behaviour::run($line);
        if ($verdict === 'other host') {
            continue;
        }
        $counts[$verdict]++;
        $name = $line['id'] . (isset($line['about']) ? ": $line[about]" : '');
        match ($verdict) {
            'skipped', 'open' => $tap->skip($name, "$verdict, $why"),
            default => $tap->ok($verdict === 'passed', $name, $why),
        };
    }
}
if ($only === null) {
    $tap->ok($counts['passed'] > 500, 'the list has more than 500 lines');
}

// Each of these lines must fail for its reason: this shows that errors of a module are detected.
$json = fn (string $bytes, mixed $value) =>
    ['do' => 'read', 'format' => 'json', 'bytes' => $bytes, 'value' => $value];
$php = fn (string $bytes, mixed $value, mixed $classes = 'any') =>
    ['do' => 'read', 'format' => 'php', 'bytes' => $bytes, 'value' => $value, 'classes' => $classes];
$notes = ['object' => 'Notes', 'is' => ['map' => []]];
$mustFail = [
    ['expected the integer 2, found 1', $json('[1]', [2])],
    ['expected the string "1", found 1', $json('[1]', ['1'])],
    ['expected the integer 1, found "1"', $json('["1"]', [1])],
    ['expected the float 3ff0000000000000, found 1', $json('[1]', [['float' => '3ff0000000000000']])],
    ['expected the float 8000000000000000', $php('d:0;', ['float' => '8000000000000000'])],
    ['expected null, found 0', $json('[0]', [null])],
    ['expected true, found 1', $json('[1]', [true])],
    ['expected 1 items, found 2', $json('[0,1]', [0])],
    ['expected a list', $json('{"a":1}', [1])],
    ['expected a list', $php('a:2:{i:1;i:1;i:0;i:2;}', [2, 1])],
    ['expected 1 entries, found 2', $json('{"a":1,"b":2}', ['map' => [['a', 1]]])],
    ['expected the key "b", found "a"', $json('{"a":1}', ['map' => [['b', 1]]])],
    ['expected the key "b", found "a"', $php('a:2:{s:1:"a";i:1;s:1:"b";i:2;}', ['map' => [['b', 2], ['a', 1]]])],
    ['expected the key "1", found 1', $php('a:1:{i:1;i:2;}', ['map' => [['1', 2]]])],
    ['expected the string "\xe9"', $json('["é"]', [['bytes' => 'e9']])],
    ['was not refused', ['do' => 'read', 'format' => 'json', 'bytes' => '[1]', 'error' => []]],
    ['refused: malformed', $json('[x]', [1])],
    ['has offset 1, not 2', ['do' => 'read', 'format' => 'json', 'bytes' => '[x]', 'error' => ['offset' => 2]]],
    ['has kind malformed, not limit',
        ['do' => 'read', 'format' => 'json', 'bytes' => '[x]', 'error' => ['kind' => 'limit']]],
    ['has kind malformed, not limit truncated',
        ['do' => 'read', 'format' => 'json', 'bytes' => '[x]', 'error' => ['kind' => ['limit', 'truncated']]]],
    ['has path $[0], not $', ['do' => 'read', 'format' => 'json', 'bytes' => '[x]', 'error' => ['path' => '$']]],
    ['has says', ['do' => 'read', 'format' => 'json', 'bytes' => '[x]', 'error' => ['says' => 'no such words']]],
    ['wrote "[1]", not "[2]"', ['do' => 'write', 'format' => 'json', 'value' => [1], 'out' => '[2]']],
    ['expected the variable 1 again',
        $php('a:3:{i:0;i:1;i:1;R:2;i:2;i:1;}', [['var' => 1, 'is' => 1], ['alias' => 1], ['alias' => 1]])],
    ['is in more than one place', $php('a:2:{i:0;i:1;i:1;i:1;}', [['var' => 1, 'is' => 1], ['alias' => 1]])],
    ['the same variable as at $[0]', $php('a:2:{i:0;i:1;i:1;R:2;}', [1, 1])],
    ['expected object 1 again',
        $php('a:2:{i:0;O:5:"Plain":0:{}i:1;O:5:"Plain":0:{}}',
        [['id' => 1, 'is' => ['object' => 'Plain', 'is' => ['map' => []]]], ['same' => 1]])],
    ['the same object as at $[0]',
        $php('a:2:{i:0;O:5:"Plain":0:{}i:1;r:2;}', array_fill(0, 2, ['object' => 'Plain', 'is' => ['map' => []]]))],
    ['expected an array, found Plain', $php('O:5:"Plain":0:{}', ['map' => []])],
    ['expected an object of Other, found Plain',
        $php('O:5:"Plain":0:{}', ['object' => 'Other', 'is' => ['map' => []]])],
    ['expected a record of Other, found Plain',
        $php('O:5:"Plain":0:{}', ['record' => 'Other', 'is' => ['any' => true]], 'record')],
    ['expected the kind enum, found object',
        $php('O:5:"Plain":0:{}', ['record' => 'Plain', 'kind' => 'enum', 'is' => ['any' => true]], 'record')],
    ['expected the enum Suit:Spades', $php('E:11:"Suit:Hearts";', ['enum' => 'Suit:Spades'])],
    ['level 3, expected a list', $json('[[1]]', ['deep' => [3, 'list', 1]])],
    ['the log has (), not (thaw Notes)', ['do' => 'log', 'log' => ['thaw Notes']]],
    ['the log has (thaw Notes', ['steps' => [$php('O:5:"Notes":0:{}', $notes), ['do' => 'log', 'log' => []]]]],
    ['ran: destroy Notes',
        ['steps' => [['do' => 'leave', 'value' => $notes], ['do' => 'leave', 'value' => null, 'error' => []]]]],
    ['the classes are', ['do' => 'classes', 'format' => 'php', 'bytes' => 'O:1:"A":0:{}', 'list' => [['B', 1, '$']]]],
    ['bytes: it was not refused', ['do' => 'cut', 'format' => 'php:lenient', 'bytes' => 'i:1;x', 'from' => 4]],
    ['expected the integer 1, found 5',
        ['steps' => [$json('[1]', [1]), ['do' => 'set', 'path' => [0], 'value' => 5],
        ['do' => 'get', 'path' => [0], 'value' => 1]]]],
    ['there is no step frobnicate', ['do' => 'frobnicate']],
];
if (is_readable('/proc/self/statm')) {
    $mustFail[] = ['grew by', ['do' => 'memory', 'times' => 80, 'most' => 1_000_000, 'steps' => [['do' => 'grow']]]];
}
final class FaultyBehaviour extends Behaviour
{
    private array $leak = [];
    private mixed $released = null;

    protected function doGrow(): void
    {
        $this->leak[] = str_repeat('x', 1_000_000);
    }

    // Throws an exception that releases an object with a destructor.
    protected function doLeave(array $step): void
    {
        $value = isset($step['value']) ? (new Builder)->build($step['value']) : null;
        $this->callGuarded($step, function () use ($value, $step) {
            $this->released = $value;
            if (isset($step['error'])) {
                throw new Icecore\DecodeException('refused');
            }
        });
    }
}
foreach ($mustFail as [$reason, $line]) {
    [$verdict, $why] = FaultyBehaviour::run($line);
    $tap->ok($verdict === 'failed' && str_contains($why, $reason), "a line fails with: $reason", "$verdict: $why");
}
$tap->ok(Behaviour::run(['do' => 'log', 'log' => [], 'needs' => ['wings']])[0] === 'skipped',
    'a line that needs a missing feature is skipped');
$tap->ok(Behaviour::run(['do' => 'log', 'log' => ['x'], 'open' => 'why'])[0] === 'open',
    'an open line is reported as open');

exit($tap->done());

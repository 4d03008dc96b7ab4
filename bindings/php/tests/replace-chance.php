<?php
// Replaces text in random values. The result must be the bytes that PHP writes for the same value after
// strtr() has changed its texts, at all levels of documents in documents.
//
//   php -d extension=icecore.so replace-chance.php [--seed N] [--count N] [--from N] [--show N]

declare(strict_types=1);

require __DIR__ . '/lib/Chance/Rng.php';
require __DIR__ . '/lib/Replace/Plan.php';

use Replace\Plan;

ini_set('memory_limit', '1G');
error_reporting(E_ALL & ~E_DEPRECATED);
$options = getopt('', ['seed:', 'count:', 'from:', 'show:']);
$seed = (int) ($options['seed'] ?? 1);
$from = (int) ($options['from'] ?? 0);
$count = (int) ($options['count'] ?? 500);
$show = (int) ($options['show'] ?? 10);
$passed = $failed = 0;
$changed = $bytes = 0;

/**
 * A string of serialize() with a wrong length. A text that contains it may be left unchanged, and is
 * then counted, because a replacement would make its length more wrong.
 */
const LENGTH_IS_WRONG = 's:4:"old";';

/** The words of texts, including those that are replaced. No two of them together look like data of any format. */
const WORDS = ['old', 'older', 'an old one', 'Old', 'o', 'ld', ' ', "\n", 'text', '"', "'", '\\', '\\"', "\\'", '/',
    '://old.example/', ';}', '";', LENGTH_IS_WRONG, "\0", '%6Fld', '&amp;', '<b>', '$1', 'ink'];
const WORDS_UTF8 = ['é', '☺', "\u{1F600}", "\u{7f}", "\u{2028}"];
const WORDS_BINARY = ["\xff", "\xc3", "\x80\0\x1b"];

/** Pairs of texts. With each: true if JSON can write the new text in one way only. */
const PAIRS = [
    [['old' => 'new'], true],
    [['old' => 'brand new'], true],
    [['old' => 'o'], true],
    [['old' => ''], true],
    [['old' => 'an old one'], true],
    [['old' => 'ink', 'ink' => 'old'], true],
    [['old' => 'x', 'older' => 'much older', 'o' => '0'], true],
    [['old' => 'long long long long long long long long long long long long long long long long '], true],
    [['old' => '"', '"' => "'", '\\' => 'back'], false],
    [['old' => "\\\n", ';}' => '}'], false],
    [['old' => "a/b"], false],
    [['old' => 'é☺', 'é' => 'e'], false],
    [['old' => "\0", "\0" => 'nul'], false],
    [["'" => "''", 'ld' => '%'], false],
];

/** Counts a failure, and prints the details. */
function report_failure(string $what, int $case, array $details): void
{
    global $failed, $show, $seed;
    if (++$failed > $show) {
        return;
    }
    echo "not ok - $what (--seed $seed --from $case --count 1)\n";
    foreach ($details as $name => $value) {
        echo "    $name: ",
            addcslashes(substr(is_string($value) ? $value : var_export($value, true), 0, 1500), "\0..\37\177..\377"),
            "\n";
    }
}

/**
 * Replaces text in `data`, and checks the result. `alternative` has each text with LENGTH_IS_WRONG
 * unchanged. It is also correct, but only if the report counts these texts.
 */
function expect(string $what, int $case, string $expected, string $alternative, ?string $data, array $pairs,
    array $options): void
{
    global $passed, $changed, $bytes;
    try {
        $result = Icecore\replace($pairs, null, $data, $options, $report);
    } catch (Throwable $thrown) {
        report_failure($what, $case, ['threw' => $thrown->getMessage(), 'data' => $data, 'pairs' => $pairs]);
        return;
    }
    $bytes += strlen($data);
    $changed += $data !== $expected;
    $isCounted = ($report['strings'] > 0) === ($data !== $result)
        && ($report['occurrences'] > 0) === ($data !== $result);
    $isRight = $result === $expected || $result === $alternative && $report['unsayable'] > 0;
    if ($isRight && $isCounted) {
        $passed++;
    } else {
        report_failure($what, $case, compact('data', 'expected', 'result', 'pairs', 'report'));
    }
}

for ($case = $from; $case < $from + $count; $case++) {
    Rng::seed($seed, $case);
    [$pairs, $hasOneNotation] = Rng::pick(PAIRS);
    // JSON can't contain bytes that are not UTF-8, and texts with two notations in JSON are not
    // compared in it.
    $isUtf8 = $hasOneNotation && Rng::oneIn(2);
    $hasBase64 = Rng::oneIn(6);
    $words = [...WORDS, ...($isUtf8 || Rng::oneIn(2) ? WORDS_UTF8 : WORDS_BINARY)];
    $plan = new Plan($words, $isUtf8, $hasBase64);
    $change = fn (string $text) => strtr($text, $pairs);
    $same = fn (string $text) => $text;
    // Tells if a text may be left unchanged: the wrong string is neither at its beginning, where the
    // text itself would be a broken document, nor after a letter, where it is ordinary text.
    $may_be_unchanged = fn (string $text) =>
        preg_match('/(?<![a-zA-Z])' . LENGTH_IS_WRONG . '/', ltrim($text, " \n\0"), $found, PREG_OFFSET_CAPTURE)
        && $found[0][1] > 0;
    $change_other = fn (string $text) => $may_be_unchanged($text) ? $text : $change($text);
    $options = $hasBase64 ? ['base64' => true] : [];

    $before = $plan->render($same, $same, false);
    $after = $plan->render($change, $same, false);
    $partly = $plan->render($change_other, $same, false);
    expect('serialize', $case, serialize($after), serialize($partly), serialize($before), $pairs, $options);
    expect('serialize, with the option format', $case, serialize($after), serialize($partly), serialize($before),
        $pairs, $options + ['format' => 'php']);
    expect('serialize twice', $case, serialize([serialize($after)]), serialize([serialize($partly)]),
        serialize([serialize($before)]), $pairs, $options);
    $session = fn (mixed $value) => 'first|' . serialize($value) . 'second|i:7;';
    expect('a session', $case, $session($after), $session($partly), $session($before), $pairs,
        $options + ['format' => 'php-session']);
    // If the data has no backslashes, their notation is unknown.
    if (!$hasBase64 && addslashes(serialize($before)) !== serialize($before)) {
        expect('slashes', $case, addslashes(serialize($after)), addslashes(serialize($partly)),
            addslashes(serialize($before)), $pairs, ['format' => 'slashes/php']);
    }

    // igbinary writes equal strings once, so its bytes depend on which strings become equal. Therefore
    // the values are compared.
    if (!str_contains(serialize($before), 'OldText')) {
        $data = Icecore\igbinary_serialize($before);
        $result = Icecore\replace($pairs, null, $data, $options);
        $read = @Icecore\igbinary_unserialize($result, ['classes' => 'any']);
        $round_trip = fn (mixed $value) =>
            serialize(Icecore\igbinary_unserialize(Icecore\igbinary_serialize($value), ['classes' => 'any']));
        if (in_array(serialize($read), [$round_trip($after), $round_trip($partly)], true)) {
            $passed++;
        } else {
            report_failure('igbinary', $case,
                ['data' => $data, 'result' => $result, 'pairs' => $pairs, 'expected' => serialize($after)]);
        }
    }

    // With keys, and with names of classes.
    if (!$hasBase64 && $hasOneNotation && isset($pairs['old'])) {
        $change_key = fn (string $key) => strtr($key, $pairs);
        $keys = $plan->render($change, $change_key, false);
        if (!array_intersect_key($pairs, ['a' => 1, 'b' => 1, 'c' => 1, 'next' => 1, 'text' => 1, 'o' => 1])) {
            $change_other_key = fn (string $key) => $may_be_unchanged($key) ? $key : $change_key($key);
            expect('keys', $case, serialize($keys), serialize($plan->render($change_other, $change_other_key, false)),
                serialize($before), $pairs, ['keys' => true]);
        }
        $class = [...$pairs, 'Replace\OldThing' => 'Replace\RenamedThing'];
        expect('classes', $case, serialize($plan->render($change, $same, true)),
            serialize($plan->render($change_other, $same, true)), serialize($before), $class, ['classes' => true]);
    }
}
echo "# seed $seed: $changed of the values were changed, $bytes bytes\n$passed passed, $failed failed\n";
exit($failed ? 1 : 0);

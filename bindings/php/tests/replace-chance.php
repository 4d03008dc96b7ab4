<?php
// Text replaced in random values: the result must be the bytes that PHP writes for the value whose
// texts strtr() changed, at all levels of values in values.
//
//   php -d extension=icecore.so replace-chance.php [--seed N] [--count N] [--from N] [--show N]

declare(strict_types=1);

require __DIR__ . '/lib/Chance/Dice.php';
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
 * A string of serialize() with a wrong length: a text that contains it is kept, and counted, if the
 * replacement would make its length more wrong.
 */
const LENGTH_IS_WRONG = 's:4:"old";';

/** Pieces of texts, including those that are replaced. No two of them together form data of any format. */
const WORDS = ['old', 'older', 'an old one', 'Old', 'o', 'ld', ' ', "\n", 'text', '"', "'", '\\', '\\"', "\\'", '/', '://old.example/', ';}', '";', LENGTH_IS_WRONG, "\0", '%6Fld', '&amp;', '<b>', '$1', 'ink'];
const WORDS_UTF8 = ['é', '☺', "\u{1F600}", "\u{7f}", "\u{2028}"];
const WORDS_BINARY = ["\xff", "\xc3", "\x80\0\x1b"];

/** Pairs, each with whether JSON has only one notation for the new text. */
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

function report(string $what, int $case, array $seen): void
{
    global $failed, $show, $seed;
    if (++$failed > $show) {
        return;
    }
    echo "not ok - $what (--seed $seed --from $case --count 1)\n";
    foreach ($seen as $name => $value) {
        echo "    $name: ", addcslashes(substr(is_string($value) ? $value : var_export($value, true), 0, 1500), "\0..\37\177..\377"), "\n";
    }
}

/**
 * `$orLeft`: the same, but each text with LENGTH_IS_WRONG is unchanged: this is right only if it is
 * counted.
 */
function expect(string $what, int $case, string $wanted, string $orLeft, ?string $data, array $pairs, array $options): void
{
    global $passed, $changed, $bytes;
    try {
        $got = Icecore\replace($pairs, null, $data, $options, $report);
    } catch (Throwable $thrown) {
        report($what, $case, ['threw' => $thrown->getMessage(), 'data' => $data, 'pairs' => $pairs]);
        return;
    }
    $bytes += strlen($data);
    $changed += $data !== $wanted;
    $isCounted = ($report['strings'] > 0) === ($data !== $got) && ($report['occurrences'] > 0) === ($data !== $got);
    $isRight = $got === $wanted || $got === $orLeft && $report['unsayable'] > 0;
    if ($isRight && $isCounted) {
        $passed++;
    } else {
        report($what, $case, compact('data', 'wanted', 'got', 'pairs', 'report'));
    }
}

for ($case = $from; $case < $from + $count; $case++) {
    Dice::seed($seed, $case);
    [$pairs, $isPlain] = Dice::pick(PAIRS);
    // JSON can't contain bytes that are not UTF-8, and texts with two notations in JSON are not
    // compared in it.
    $isUtf8 = $isPlain && Dice::one(2);
    $hasBase64 = Dice::one(6);
    $words = [...WORDS, ...($isUtf8 || Dice::one(2) ? WORDS_UTF8 : WORDS_BINARY)];
    $plan = new Plan($words, $isUtf8, $hasBase64);
    $change = fn (string $text) => strtr($text, $pairs);
    $same = fn (string $text) => $text;
    // A text that begins like this is a broken value, and not a text around one; the end of a word
    // is prose.
    $stays = fn (string $text) => preg_match('/(?<![a-zA-Z])' . LENGTH_IS_WRONG . '/', ltrim($text, " \n\0"), $found, PREG_OFFSET_CAPTURE) && $found[0][1] > 0;
    $leave = fn (string $text) => $stays($text) ? $text : $change($text);
    $options = $hasBase64 ? ['base64' => true] : [];

    $before = $plan->render($same, $same, false);
    $after = $plan->render($change, $same, false);
    $left = $plan->render($leave, $same, false);
    expect('serialize', $case, serialize($after), serialize($left), serialize($before), $pairs, $options);
    expect('serialize, named', $case, serialize($after), serialize($left), serialize($before), $pairs, $options + ['format' => 'php']);
    expect('serialize twice', $case, serialize([serialize($after)]), serialize([serialize($left)]), serialize([serialize($before)]), $pairs, $options);
    $session = fn (mixed $value) => 'first|' . serialize($value) . 'second|i:7;';
    expect('a session', $case, $session($after), $session($left), $session($before), $pairs, $options + ['format' => 'php-session']);
    // Without backslashes in the data their notation is unknown.
    if (!$hasBase64 && addslashes(serialize($before)) !== serialize($before)) {
        expect('slashes', $case, addslashes(serialize($after)), addslashes(serialize($left)), addslashes(serialize($before)), $pairs, ['format' => 'slashes/php']);
    }

    // igbinary writes an equal string once: the original's bytes depend on which strings become
    // equal. So the values are compared.
    if (!str_contains(serialize($before), 'OldText')) {
        $data = Icecore\igbinary_serialize($before);
        $got = Icecore\replace($pairs, null, $data, $options);
        $read = @Icecore\igbinary_unserialize($got, ['classes' => 'any']);
        $again = fn (mixed $value) => serialize(Icecore\igbinary_unserialize(Icecore\igbinary_serialize($value), ['classes' => 'any']));
        if (in_array(serialize($read), [$again($after), $again($left)], true)) {
            $passed++;
        } else {
            report('igbinary', $case, ['data' => $data, 'got' => $got, 'pairs' => $pairs, 'wanted' => serialize($after)]);
        }
    }

    // With keys, and with names of classes.
    if (!$hasBase64 && $isPlain && isset($pairs['old'])) {
        $changeKey = fn (string $key) => strtr($key, $pairs);
        $keys = $plan->render($change, $changeKey, false);
        if (!array_intersect_key($pairs, ['a' => 1, 'b' => 1, 'c' => 1, 'next' => 1, 'text' => 1, 'o' => 1])) {
            $leaveKey = fn (string $key) => $stays($key) ? $key : $changeKey($key);
            expect('keys', $case, serialize($keys), serialize($plan->render($leave, $leaveKey, false)), serialize($before), $pairs, ['keys' => true]);
        }
        $class = [...$pairs, 'Replace\OldThing' => 'Replace\RenamedThing'];
        expect('classes', $case, serialize($plan->render($change, $same, true)), serialize($plan->render($leave, $same, true)), serialize($before), $class, ['classes' => true]);
    }
}
echo "# seed $seed: $changed of the values were changed, $bytes bytes\n$passed passed, $failed failed\n";
exit($failed ? 1 : 0);

<?php
// Compares the functions of igbinary with the extension igbinary, and with its bytes.
//
//   php -d extension=icecore.so igbinary.php [--seed N] [--count N] [--from N]
//
// The named cases have the bytes that igbinary 3.2.13 writes, and what it reads from bytes. The random
// values share arrays, objects and variables in all ways: each is written and read by both, and what
// Icecore writes is read by Icecore. Without the extension, only the named cases and the last of
// these run.

declare(strict_types=1);

error_reporting(E_ALL & ~E_DEPRECATED);
require __DIR__ . '/lib/Tap.php';
require __DIR__ . '/lib/Implementation.php';
require __DIR__ . '/lib/Outcome.php';
require __DIR__ . '/lib/Igbinary/classes.php';
require __DIR__ . '/lib/Igbinary/SharedValues.php';
require __DIR__ . '/lib/Igbinary/cases.php';

use Igbinary\SharedValues;

$options = getopt('', ['seed:', 'count:', 'from:']);
$seed = (int) ($options['seed'] ?? 1);
$from = (int) ($options['from'] ?? 0);
$tap = new Tap;
$ours = Implementation::icecore();
$original = Implementation::php()->hasIgbinary() ? Implementation::php() : null;

/** Number of values that are compared. Arrays that contain themselves have no end. */
const SHOWN_VALUES = 500;

/** Returns what a call does as text, without the name of the function in messages. */
function outcome(Closure $call, bool $isBytes = false): string
{
    $text = Outcome::of(fn () => $call())->text();
    return $isBytes ? bin2hex($text) : $text;
}

// ---- named cases -----------------------------------------------------------

foreach (Igbinary\written_cases() as $name => [$make, $hex]) {
    foreach (array_filter([$ours, $original]) as $implementation) {
        $bytes = @$implementation->igbinarySerialize($make());
        $tap->ok(bin2hex((string) $bytes) === '00000002' . $hex, "$implementation->name writes $name",
            'wrote ' . bin2hex(substr((string) $bytes, 4)) . "\nnot   $hex");
    }
    $value = $ours->igbinaryUnserialize(hex2bin("00000002$hex"));
    $tap->ok($value !== null, "Icecore reads $name");
}
foreach (Igbinary\read_cases() as $name => [$hex, $describe, $expected]) {
    foreach (array_filter([$ours, $original]) as $implementation) {
        $value = @$implementation->igbinaryUnserialize(hex2bin("00000002$hex"));
        $text = $describe($value);
        $tap->ok($text === $expected, "$implementation->name reads $name", "read $text\nnot  $expected");
    }
}
foreach (Igbinary\failing_cases() as $name => [$call, $message]) {
    foreach (array_filter([$ours, $original]) as $implementation) {
        $text = outcome(fn () => $call($implementation));
        $tap->ok(str_contains($text, $message), "$implementation->name, $name", $text);
    }
}
foreach (Igbinary\malformed_cases() as $name => [$hex, $message]) {
    foreach (array_filter([$ours, $original]) as $implementation) {
        $outcome = Outcome::of(fn () => $implementation->igbinaryUnserialize(hex2bin($hex)));
        $tap->ok($outcome->warnings === ["Warning: $message"] && $outcome->result === 'value null null',
            "$implementation->name warns about $name", $outcome->text());
    }
}
$nested = [];
for ($i = 0; $i < 5000; $i++) {
    $nested = [$nested];
}
$tap->ok($ours->igbinaryUnserialize($ours->igbinarySerialize($nested)) === $nested, 'Icecore reads 5,000 levels');
if ($original) {
    ini_set('igbinary.compact_strings', '0');
    $bytes = Icecore\igbinary_serialize(['a', 'a', 'a' => 'a']);
    $tap->ok($bytes === \igbinary_serialize(['a', 'a', 'a' => 'a']), 'strings in full', bin2hex($bytes));
    ini_set('igbinary.compact_strings', '1');
    $bytes = Icecore\igbinary_serialize(['a', 'a', 'a' => 'a']);
    $tap->ok($bytes === \igbinary_serialize(['a', 'a', 'a' => 'a']), 'strings by number', bin2hex($bytes));
}

// ---- random values ---------------------------------------------------------

$failures = 0;
$count = (int) ($options['count'] ?? 1000);
for ($round = $from; $round < $from + $count; $round++) {
    mt_srand($seed * 1000003 + $round);
    $value = SharedValues::make();
    $written = outcome(fn () => $ours->igbinarySerialize($value), true);
    try {
        $bytes = @$ours->igbinarySerialize($value);
    } catch (Throwable) {
        // A typed property without a value. The outcomes are compared below.
        $bytes = "\0\0\0\2\0";
    }
    $again = outcome(fn () => Shape::of($ours->igbinaryUnserialize($bytes), SHOWN_VALUES));
    $problem = preg_match('/\(igbinary\)|Icecore:/', $again) ? "Icecore can't read its own bytes: $again" : null;
    if ($original) {
        $expected = outcome(fn () => $original->igbinarySerialize($value), true);
        $problem ??= $written === $expected ? null
            : "Icecore writes\n" . hex2bin($written) . "\nnot\n" . hex2bin($expected);
        try {
            $bytes = @$original->igbinarySerialize($value);
        } catch (Throwable) {
        }
        $expected = outcome(fn () => Shape::of($original->igbinaryUnserialize($bytes), SHOWN_VALUES));
        $read = outcome(fn () => Shape::of($ours->igbinaryUnserialize($bytes), SHOWN_VALUES));
        $problem ??= $read === $expected ? null : 'from ' . bin2hex($bytes) . " Icecore reads\n$read\nnot\n$expected";
    }
    if ($problem && ++$failures <= 10) {
        $tap->ok(false, "random value (--seed $seed --from $round --count 1)", $problem);
    }
    unset($value);
    gc_collect_cycles();
}
$tap->ok($failures === 0, "$count random values", "$failures are different");
exit($tap->done());

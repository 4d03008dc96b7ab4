<?php
// Functions that the tests of this folder share.

error_reporting(E_ALL);

$passed = $failed = 0;

/** Counts a test, and prints a failure with the named details. */
function check(string $name, bool $is_right, mixed ...$details): void
{
    global $passed, $failed;
    if ($is_right) {
        $passed++;
        return;
    }
    $failed++;
    echo "not ok - $name\n";
    foreach ($details as $label => $value) {
        echo "    $label: ", is_string($value) ? substr($value, 0, 2000) : var_export($value, true), "\n";
    }
}

/** Counts a test of two values that must be identical. */
function same(string $name, mixed $expected, mixed $found): void
{
    check($name, $expected === $found, expected: $expected, found: $found);
}

/** Returns the exception that a call throws, or null. */
function thrown(callable $call): ?Throwable
{
    try {
        $call();
    } catch (Throwable $thrown) {
        return $thrown;
    }
    return null;
}

/** Prints the counts and ends the program. */
function finish(): never
{
    global $passed, $failed;
    echo "$passed passed, $failed failed\n";
    exit($failed > 0 ? 1 : 0);
}

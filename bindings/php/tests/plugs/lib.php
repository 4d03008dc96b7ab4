<?php
// Functions that the tests of this folder share.

error_reporting(E_ALL);

$passed = $failed = 0;

/** Counts a test, and prints failures. */
function check(string $name, bool $is_right, mixed ...$seen): void
{
    global $passed, $failed;
    if ($is_right) {
        $passed++;
        return;
    }
    $failed++;
    echo "not ok - $name\n";
    foreach ($seen as $what => $value) {
        echo "    $what: ", is_string($value) ? substr($value, 0, 2000) : var_export($value, true), "\n";
    }
}

function same(string $name, mixed $wanted, mixed $got): void
{
    check($name, $wanted === $got, wanted: $wanted, got: $got);
}

/** Returns the exception of a call, or null. */
function thrown(callable $call): ?Throwable
{
    try {
        $call();
    } catch (Throwable $thrown) {
        return $thrown;
    }
    return null;
}

function finish(): never
{
    global $passed, $failed;
    echo "$passed passed, $failed failed\n";
    exit($failed > 0 ? 1 : 0);
}

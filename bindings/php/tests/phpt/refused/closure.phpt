--TEST--
Closures are refused
--FILE--
<?php
foreach ([fn () => 1, function () { }, strlen(...), Closure::fromCallable('strtoupper')] as $closure) {
    try {
        serialize(['a' => [$closure]]);
    } catch (Exception $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Exception: Serialization of 'Closure' is not allowed
Exception: Serialization of 'Closure' is not allowed
Exception: Serialization of 'Closure' is not allowed
Exception: Serialization of 'Closure' is not allowed

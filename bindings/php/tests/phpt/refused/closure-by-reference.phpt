--TEST--
A closure that is a reference is refused
--FILE--
<?php
$c = fn () => 1;
try {
    serialize([&$c, &$c]);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'Closure' is not allowed

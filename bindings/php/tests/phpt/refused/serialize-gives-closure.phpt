--TEST--
A closure in the array of __serialize is refused
--FILE--
<?php
class Gives
{
    function __serialize(): array { return [fn () => 1]; }
}
try {
    serialize(new Gives);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'Closure' is not allowed

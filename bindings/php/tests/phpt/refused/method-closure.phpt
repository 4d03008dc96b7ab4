--TEST--
A closure of a method is refused
--FILE--
<?php
class Has
{
    function method() { }
}
try {
    serialize([(new Has)->method(...)]);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'Closure' is not allowed

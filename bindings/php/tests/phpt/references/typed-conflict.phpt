--TEST--
A variable that can't fit both types throws an error while it is read
--FILE--
<?php
class Typed
{
    public int $i = 1;
    public ?string $s = null;
}
try {
    unserialize('O:5:"Typed":2:{s:1:"i";i:1;s:1:"s";R:2;}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot assign int to property Typed::$s of type ?string

--TEST--
An earlier element of a wrong type can't be linked by a typed property
--FILE--
<?php
class Typed
{
    public ?int $i = 1;
}
try {
    unserialize('a:2:{i:0;s:1:"x";i:1;O:5:"Typed":1:{s:1:"i";R:2;}}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot assign string to property Typed::$i of type ?int

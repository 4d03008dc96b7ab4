--TEST--
A value of a wrong type throws an error
--FILE--
<?php
class Typed
{
    public int $i = 0;
}
try {
    unserialize('O:5:"Typed":1:{s:1:"i";s:1:"x";}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot assign string to property Typed::$i of type int

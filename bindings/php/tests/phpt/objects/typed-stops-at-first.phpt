--TEST--
The first of two wrong types is reported
--FILE--
<?php
class Typed
{
    public int $i = 0;
    public int $j = 0;
}
try {
    unserialize('O:5:"Typed":2:{s:1:"i";s:1:"x";s:1:"j";s:1:"y";}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
    var_dump($e->getPrevious());
}
?>
--EXPECT--
Cannot assign string to property Typed::$i of type int
NULL

--TEST--
An int property and a float property can't be one variable
--FILE--
<?php
class Typed
{
    public int $i = 1;
    public float $f = 1.5;
}
try {
    var_dump(unserialize('O:5:"Typed":2:{s:1:"i";i:1;s:1:"f";R:2;}'));
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Reference with value of type int held by property Typed::$i of type int is not compatible with property Typed::$f of type float

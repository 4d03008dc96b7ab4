--TEST--
An integer for a float property becomes a float
--FILE--
<?php
class Typed
{
    public float $f = 0.5;
}
try {
    var_dump(unserialize('O:5:"Typed":1:{s:1:"f";i:5;}')->f);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
float(5)

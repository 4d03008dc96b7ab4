--TEST--
__sleep can't name properties that only __get provides
--FILE--
<?php
class Magic
{
    function __get($name) { return "got $name"; }
    function __isset($name) { return true; }
    function __sleep() { return ['virtual']; }
}
echo serialize(new Magic), "\n";
?>
--EXPECTF--
Warning: serialize(): "virtual" returned as member variable from __sleep() but does not exist in %s on line %d
O:5:"Magic":0:{}

--TEST--
A static property that __sleep names is warned about
--FILE--
<?php
class WithStatic
{
    public static $s = 1;
    public $a = 2;

    function __sleep() { return ['s', 'a']; }
}
echo serialize(new WithStatic), "\n";
?>
--EXPECTF--
Warning: serialize(): "s" returned as member variable from __sleep() but does not exist in %s on line %d
O:10:"WithStatic":1:{s:1:"a";i:2;}

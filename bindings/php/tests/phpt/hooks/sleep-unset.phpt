--TEST--
A declared but unset property that __sleep names is warned about
--FILE--
<?php
class Cleared
{
    public $a = 1;
    public $b = 2;

    function __sleep() { return ['a', 'b']; }
}
$o = new Cleared;
unset($o->a);
echo serialize($o), "\n";
?>
--EXPECTF--
Warning: serialize(): "a" returned as member variable from __sleep() but does not exist in %s on line %d
O:7:"Cleared":1:{s:1:"b";i:2;}

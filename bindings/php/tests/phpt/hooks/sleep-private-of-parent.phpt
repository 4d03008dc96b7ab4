--TEST--
__sleep of a child does not reach a private property of its parent by the plain name
--FILE--
<?php
class Base
{
    private $p = 1;
}
class Derived extends Base
{
    function __sleep() { return ['p']; }
}
echo strtr(serialize(new Derived), "\0", '~'), "\n";
?>
--EXPECTF--
Warning: serialize(): "p" returned as member variable from __sleep() but does not exist in %s on line %d
O:7:"Derived":0:{}

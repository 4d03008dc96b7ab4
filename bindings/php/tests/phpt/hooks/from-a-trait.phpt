--TEST--
Hooks may come from a trait
--FILE--
<?php
trait Frozen
{
    function __sleep() { return array_keys(get_object_vars($this)); }
    function __wakeup() { echo static::class, " wakes\n"; }
}
class A
{
    use Frozen;

    private $x = 1;
    protected $y = 2;
}
class B extends A
{
    public $z = 3;
}
unserialize(serialize(new A));
echo strtr(serialize(new B), "\0", '~'), "\n";
?>
--EXPECTF--
A wakes

Warning: serialize(): "x" returned as member variable from __sleep() but does not exist in %s on line %d
O:1:"B":2:{s:4:"~*~y";i:2;s:1:"z";i:3;}

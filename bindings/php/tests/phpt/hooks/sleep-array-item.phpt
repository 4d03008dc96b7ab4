--TEST--
An array among the names of __sleep is warned about
--FILE--
<?php
class Odd
{
    public $a = 1;

    function __sleep() { return ['a', []]; }
}
echo serialize(new Odd), "\n";
?>
--EXPECTF--
Warning: serialize(): Odd::__sleep() should return an array only containing the names of instance-variables to serialize in %s on line %d

Warning: Array to string conversion in %s on line %d

Warning: serialize(): "Array" returned as member variable from __sleep() but does not exist in %s on line %d
O:3:"Odd":1:{s:1:"a";i:1;}

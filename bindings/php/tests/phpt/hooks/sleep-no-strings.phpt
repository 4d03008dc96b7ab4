--TEST--
Names of __sleep that are not strings are warned about
--FILE--
<?php
class Odd
{
    public $a = 1;

    function __sleep() { return ['a', 5, null, 1.5, true]; }
}
echo serialize(new Odd), "\n";
?>
--EXPECTF--
Warning: serialize(): Odd::__sleep() should return an array only containing the names of instance-variables to serialize in %s on line %d

Warning: serialize(): "5" returned as member variable from __sleep() but does not exist in %s on line %d

Warning: serialize(): Odd::__sleep() should return an array only containing the names of instance-variables to serialize in %s on line %d

Warning: serialize(): "" returned as member variable from __sleep() but does not exist in %s on line %d

Warning: serialize(): Odd::__sleep() should return an array only containing the names of instance-variables to serialize in %s on line %d

Warning: serialize(): "1.5" returned as member variable from __sleep() but does not exist in %s on line %d

Warning: serialize(): Odd::__sleep() should return an array only containing the names of instance-variables to serialize in %s on line %d

Warning: serialize(): "1" returned as member variable from __sleep() but does not exist in %s on line %d
O:3:"Odd":1:{s:1:"a";i:1;}

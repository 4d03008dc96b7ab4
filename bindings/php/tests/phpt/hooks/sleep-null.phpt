--TEST--
An object whose __sleep returns nothing is written as null, with a warning
--FILE--
<?php
class Wrong
{
    public $a = 1;

    function __sleep()
    {
    }
}
echo serialize(new Wrong), "\n";
?>
--EXPECTF--
Warning: serialize(): Wrong::__sleep() should return an array only containing the names of instance-variables to serialize in %s on line %d
N;

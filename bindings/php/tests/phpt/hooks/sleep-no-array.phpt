--TEST--
An object whose __sleep returns no array is written as null, with a warning
--FILE--
<?php
class Wrong
{
    public $a = 1;

    function __sleep()
    {
        return 'a';
    }
}
echo serialize([1, new Wrong, 2]), "\n";
?>
--EXPECTF--
Warning: serialize(): Wrong::__sleep() should return an array only containing the names of instance-variables to serialize in %s on line %d
a:3:{i:0;i:1;i:1;N;i:2;i:2;}

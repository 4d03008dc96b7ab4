--TEST--
__unserialize of an object that a link refers to is called once
--FILE--
<?php
class Counts
{
    public static $calls = 0;

    function __unserialize(array $data): void { static::$calls++; }
}
unserialize('a:3:{i:0;O:6:"Counts":0:{}i:1;O:6:"Counts":0:{}i:2;r:2;}');
var_dump(Counts::$calls);
?>
--EXPECT--
int(2)

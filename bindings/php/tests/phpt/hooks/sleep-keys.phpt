--TEST--
Keys of the array that __sleep returns are ignored
--FILE--
<?php
class Keyed
{
    public $a = 1;
    public $b = 2;

    function __sleep() { return ['x' => 'b', 7 => 'a']; }
}
echo serialize(new Keyed), "\n";
?>
--EXPECT--
O:5:"Keyed":2:{s:1:"b";i:2;s:1:"a";i:1;}

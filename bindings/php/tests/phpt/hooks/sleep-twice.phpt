--TEST--
A name that __sleep returns twice is warned about
--FILE--
<?php
class Twice
{
    public $a = 1;

    function __sleep() { return ['a', 'a']; }
}
echo serialize(new Twice), "\n";
?>
--EXPECTF--
%s: serialize(): "a" is returned from __sleep() multiple times in %s on line %d
O:5:"Twice":1:{s:1:"a";i:1;}

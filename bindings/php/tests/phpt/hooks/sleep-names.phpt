--TEST--
__sleep determines which properties are written, and their order
--FILE--
<?php
class Chosen
{
    public $a = 1;
    public $b = 2;
    public $c = 3;

    function __sleep() { return ['c', 'a']; }
}
echo $s = serialize(new Chosen), "\n";
var_dump(unserialize($s)->b);
?>
--EXPECT--
O:6:"Chosen":2:{s:1:"c";i:3;s:1:"a";i:1;}
int(2)

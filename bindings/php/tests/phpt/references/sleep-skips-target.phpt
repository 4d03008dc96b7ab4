--TEST--
A property whose other reference __sleep leaves out is written as a value
--FILE--
<?php
class Skips
{
    public $a = 1;
    public $b;

    function __construct() { $this->b = &$this->a; }
    function __sleep() { return ['b']; }
}
echo $s = serialize(new Skips), "\n";
$o = unserialize($s);
$o->b = 5;
var_dump($o->a);
?>
--EXPECT--
O:5:"Skips":1:{s:1:"b";i:1;}
int(1)

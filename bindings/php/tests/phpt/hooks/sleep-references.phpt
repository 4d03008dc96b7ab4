--TEST--
Properties that __sleep names may be references
--FILE--
<?php
class Linked
{
    public $a = 1;
    public $b;

    function __construct() { $this->b = &$this->a; }
    function __sleep() { return ['b', 'a']; }
}
echo $s = serialize(new Linked), "\n";
$o = unserialize($s);
$o->a = 5;
var_dump($o->b);
?>
--EXPECT--
O:6:"Linked":2:{s:1:"b";i:1;s:1:"a";R:2;}
int(5)

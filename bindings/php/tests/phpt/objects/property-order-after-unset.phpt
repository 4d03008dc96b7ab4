--TEST--
A declared property that was unset and set keeps its position
--FILE--
<?php
class Ordered
{
    public $a = 1;
    public $b = 2;
}
$o = new Ordered;
unset($o->a);
$o->a = 3;
echo serialize($o), "\n";
$d = (object) ['a' => 1, 'b' => 2];
unset($d->a);
$d->a = 3;
echo serialize($d), "\n";
?>
--EXPECT--
O:7:"Ordered":2:{s:1:"a";i:3;s:1:"b";i:2;}
O:8:"stdClass":2:{s:1:"b";i:2;s:1:"a";i:3;}

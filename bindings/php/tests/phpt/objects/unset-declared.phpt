--TEST--
An unset declared property is not written
--FILE--
<?php
class Cleared
{
    public $a = 1;
    public $b = 2;
}
$o = new Cleared;
unset($o->a);
echo $s = serialize($o), "\n";
var_dump(unserialize($s)->a);
?>
--EXPECT--
O:7:"Cleared":1:{s:1:"b";i:2;}
int(1)

--TEST--
A child of SplFixedArray keeps its own properties
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
class Row extends SplFixedArray
{
    public $name = 'n';
}
$o = new Row(1);
$o[0] = 5;
echo $s = serialize($o), "\n";
$b = unserialize($s);
var_dump($b->name, $b->toArray());
?>
--EXPECT--
O:3:"Row":2:{i:0;i:5;s:4:"name";s:1:"n";}
string(1) "n"
array(1) {
  [0]=>
  int(5)
}

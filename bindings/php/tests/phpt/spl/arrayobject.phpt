--TEST--
An ArrayObject keeps its elements
--FILE--
<?php
$o = new ArrayObject([1, 'k' => [2]]);
echo $s = serialize($o), "\n";
var_dump(unserialize($s)->getArrayCopy() === [1, 'k' => [2]]);
?>
--EXPECT--
O:11:"ArrayObject":4:{i:0;i:0;i:1;a:2:{i:0;i:1;s:1:"k";a:1:{i:0;i:2;}}i:2;a:0:{}i:3;N;}
bool(true)

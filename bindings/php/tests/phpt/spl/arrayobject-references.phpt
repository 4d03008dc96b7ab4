--TEST--
References among the elements of an ArrayObject are kept
--FILE--
<?php
$x = 1;
$o = new ArrayObject(['a' => &$x, 'b' => &$x]);
echo $s = serialize($o), "\n";
$b = unserialize($s)->getArrayCopy();
$b['a'] = 2;
var_dump($b['b']);
?>
--EXPECT--
O:11:"ArrayObject":4:{i:0;i:0;i:1;a:2:{s:1:"a";i:1;s:1:"b";R:4;}i:2;a:0:{}i:3;N;}
int(2)

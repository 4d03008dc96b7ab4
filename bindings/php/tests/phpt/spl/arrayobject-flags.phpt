--TEST--
An ArrayObject keeps its flags
--FILE--
<?php
$o = new ArrayObject(['a' => 1], ArrayObject::ARRAY_AS_PROPS);
echo $s = serialize($o), "\n";
$b = unserialize($s);
var_dump($b->getFlags(), $b->a);
?>
--EXPECT--
O:11:"ArrayObject":4:{i:0;i:2;i:1;a:1:{s:1:"a";i:1;}i:2;a:0:{}i:3;N;}
int(2)
int(1)

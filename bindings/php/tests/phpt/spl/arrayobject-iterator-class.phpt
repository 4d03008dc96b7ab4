--TEST--
An ArrayObject keeps the class of its iterators
--FILE--
<?php
class Walks extends ArrayIterator
{
}
$o = new ArrayObject([1], 0, 'Walks');
echo $s = serialize($o), "\n";
echo unserialize($s)->getIteratorClass(), "\n";
?>
--EXPECT--
O:11:"ArrayObject":4:{i:0;i:0;i:1;a:1:{i:0;i:1;}i:2;a:0:{}i:3;s:5:"Walks";}
Walks

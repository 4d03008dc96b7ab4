--TEST--
Iterators around others are written without what they hold
--FILE--
<?php
$o = new IteratorIterator(new ArrayIterator([1]));
echo serialize($o), "\n";
?>
--EXPECT--
O:16:"IteratorIterator":0:{}

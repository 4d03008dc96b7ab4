--TEST--
Iterators around others are written without their content
--FILE--
<?php
$o = new IteratorIterator(new ArrayIterator([1]));
echo serialize($o), "\n";
?>
--EXPECT--
O:16:"IteratorIterator":0:{}

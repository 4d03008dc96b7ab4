--TEST--
A MultipleIterator is written without its iterators
--FILE--
<?php
$o = new MultipleIterator(MultipleIterator::MIT_KEYS_ASSOC);
$o->attachIterator(new ArrayIterator([1]), 'a');
$o->attachIterator(new ArrayIterator([2]), 'b');
echo $s = serialize($o), "\n";
var_dump(unserialize($s)->countIterators());
?>
--EXPECT--
O:16:"MultipleIterator":0:{}
int(0)

--TEST--
An ArrayIterator is at its beginning after reading
--FILE--
<?php
$o = new ArrayIterator([1, 2, 3]);
$o->next();
echo $s = serialize($o), "\n";
$b = unserialize($s);
var_dump($b->current(), iterator_to_array($b));
?>
--EXPECT--
O:13:"ArrayIterator":4:{i:0;i:0;i:1;a:3:{i:0;i:1;i:1;i:2;i:2;i:3;}i:2;a:0:{}i:3;N;}
int(1)
array(3) {
  [0]=>
  int(1)
  [1]=>
  int(2)
  [2]=>
  int(3)
}

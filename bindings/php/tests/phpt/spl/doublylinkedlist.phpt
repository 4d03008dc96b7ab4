--TEST--
An SplDoublyLinkedList survives a round trip
--FILE--
<?php
$list = new SplDoublyLinkedList;
$list->push(1);
$list->push('two');
$list->unshift(0);
echo $s = serialize($list), "\n";
var_dump(iterator_to_array(unserialize($s)));
?>
--EXPECT--
O:19:"SplDoublyLinkedList":3:{i:0;i:0;i:1;a:3:{i:0;i:0;i:1;i:1;i:2;s:3:"two";}i:2;a:0:{}}
array(3) {
  [0]=>
  int(0)
  [1]=>
  int(1)
  [2]=>
  string(3) "two"
}

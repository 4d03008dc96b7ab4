--TEST--
The older text of an SplDoublyLinkedList, with C:, is read
--FILE--
<?php
$o = unserialize('C:19:"SplDoublyLinkedList":14:{i:0;:i:1;:i:2;}');
var_dump(iterator_to_array($o));
?>
--EXPECT--
array(2) {
  [0]=>
  int(1)
  [1]=>
  int(2)
}

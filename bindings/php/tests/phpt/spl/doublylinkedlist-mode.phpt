--TEST--
An SplDoublyLinkedList keeps its mode
--FILE--
<?php
$list = new SplDoublyLinkedList;
$list->setIteratorMode(SplDoublyLinkedList::IT_MODE_DELETE | SplDoublyLinkedList::IT_MODE_LIFO);
$list->push(1);
$list->push(2);
echo $s = serialize($list), "\n";
$back = unserialize($s);
var_dump($back->getIteratorMode(), iterator_to_array($back, false), count($back));
?>
--EXPECT--
O:19:"SplDoublyLinkedList":3:{i:0;i:3;i:1;a:2:{i:0;i:1;i:1;i:2;}i:2;a:0:{}}
int(3)
array(2) {
  [0]=>
  int(2)
  [1]=>
  int(1)
}
int(0)

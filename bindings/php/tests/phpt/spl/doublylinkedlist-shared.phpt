--TEST--
An object in an SplDoublyLinkedList and outside of it is one object
--FILE--
<?php
$o = new stdClass;
$list = new SplDoublyLinkedList;
$list->push($o);
$list->push($list);
$v = unserialize(serialize([$o, $list]));
var_dump($v[0] === $v[1][0], $v[1][1] === $v[1]);
?>
--EXPECT--
bool(true)
bool(true)

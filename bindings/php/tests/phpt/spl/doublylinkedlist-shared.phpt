--TEST--
An object in a list and beside it
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

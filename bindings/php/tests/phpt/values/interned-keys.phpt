--TEST--
Keys of one letter and names that the program has are read
--FILE--
<?php
$v = unserialize('a:3:{s:1:"a";i:1;s:4:"name";i:2;s:0:"";i:3;}');
$v['name']++;
var_dump($v['a'], $v['name'], $v['']);
?>
--EXPECT--
int(1)
int(3)
int(3)

--TEST--
A repeated key keeps its position and has the later value
--FILE--
<?php
var_dump(unserialize('a:3:{s:1:"a";i:1;s:1:"b";i:2;s:1:"a";i:3;}'));
?>
--EXPECT--
array(2) {
  ["a"]=>
  int(3)
  ["b"]=>
  int(2)
}

--TEST--
A reference keeps the old value if the property of its target is repeated
--FILE--
<?php
$v = unserialize('O:8:"stdClass":3:{s:1:"a";i:1;s:1:"b";R:2;s:1:"a";i:9;}');
var_dump($v);
?>
--EXPECTF--
object(stdClass)#%d (2) {
  ["a"]=>
  int(9)
  ["b"]=>
  int(1)
}

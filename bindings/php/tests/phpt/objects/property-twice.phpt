--TEST--
A repeated property has the later value
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass":2:{s:1:"a";i:1;s:1:"a";i:2;}'));
?>
--EXPECTF--
object(stdClass)#%d (1) {
  ["a"]=>
  int(2)
}

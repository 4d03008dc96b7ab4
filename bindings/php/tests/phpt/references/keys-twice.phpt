--TEST--
A reference keeps the old value if the key of its target is repeated
--FILE--
<?php
$v = unserialize('a:3:{i:0;i:1;i:1;R:2;i:0;i:9;}');
var_dump($v);
?>
--EXPECT--
array(2) {
  [0]=>
  int(9)
  [1]=>
  int(1)
}

--TEST--
Integer keys may have signs and leading zeros
--FILE--
<?php
var_dump(unserialize('a:3:{i:+1;i:1;i:-0;i:2;i:007;i:3;}'));
?>
--EXPECT--
array(3) {
  [1]=>
  int(1)
  [0]=>
  int(2)
  [7]=>
  int(3)
}

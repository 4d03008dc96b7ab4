--TEST--
The number of a link may have leading zeros
--FILE--
<?php
var_dump(unserialize('a:2:{i:0;i:1;i:1;R:002;}'));
?>
--EXPECT--
array(2) {
  [0]=>
  &int(1)
  [1]=>
  &int(1)
}

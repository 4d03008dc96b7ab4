--TEST--
"1" and 1 are the same key
--FILE--
<?php
var_dump(unserialize('a:2:{i:1;s:1:"x";s:1:"1";s:1:"y";}'));
?>
--EXPECT--
array(1) {
  [1]=>
  string(1) "y"
}

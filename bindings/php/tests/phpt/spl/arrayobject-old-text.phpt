--TEST--
The older text of an ArrayObject, with C:, is read
--FILE--
<?php
$o = unserialize('C:11:"ArrayObject":41:{x:i:0;a:2:{i:0;i:1;s:1:"k";i:2;};m:a:0:{}}');
var_dump($o->getArrayCopy());
?>
--EXPECT--
array(2) {
  [0]=>
  int(1)
  ["k"]=>
  int(2)
}

--TEST--
Keys in the canonical decimal form are integers
--FILE--
<?php
var_dump(unserialize('a:5:{s:1:"5";i:0;s:2:"-5";i:1;s:2:"05";i:2;s:2:"-0";i:3;s:2:"+5";i:4;}'));
?>
--EXPECT--
array(5) {
  [5]=>
  int(0)
  [-5]=>
  int(1)
  ["05"]=>
  int(2)
  ["-0"]=>
  int(3)
  ["+5"]=>
  int(4)
}

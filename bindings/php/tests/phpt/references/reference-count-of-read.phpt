--TEST--
A variable that occurs once is not a reference after reading
--FILE--
<?php
$v = unserialize('a:2:{i:0;i:1;i:1;R:2;}');
unset($v[1]);
$copy = $v;
$copy[0] = 9;
var_dump($v[0]);
?>
--EXPECT--
int(1)

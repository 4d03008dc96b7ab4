--TEST--
After reading, an appended element gets the key after the greatest
--FILE--
<?php
$list = unserialize('a:2:{i:7;i:0;i:3;i:0;}');
$list[] = 'new';
var_dump(array_key_last($list));
$negative = unserialize('a:1:{i:-7;i:0;}');
$negative[-7] = 1;
var_dump(count($negative));
?>
--EXPECT--
int(8)
int(1)

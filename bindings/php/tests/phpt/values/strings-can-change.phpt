--TEST--
A string that was read can be changed in place
--FILE--
<?php
$v = unserialize('a:2:{i:0;s:3:"abc";i:1;s:1:"x";}');
$copy = $v[0];
$v[0][1] = 'X';
$v[1][0] = 'y';
var_dump($v[0], $copy, $v[1]);
?>
--EXPECT--
string(3) "aXc"
string(3) "abc"
string(1) "y"

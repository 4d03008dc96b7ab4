--TEST--
A link to a missing value is reported before an element that refers to the value it replaces
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
var_dump(unserialize('a:2:{i:0;a:2:{i:0;i:1;i:0;R:3;}i:1;R:4;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 39 of 40 bytes in %s on line %d
bool(false)

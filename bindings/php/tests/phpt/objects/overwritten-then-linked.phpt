--TEST--
A link to a value whose key was repeated is malformed
--FILE--
<?php
$v = unserialize('a:3:{i:0;O:8:"stdClass":1:{s:1:"a";i:1;}i:0;i:5;i:1;r:2;}');
var_dump($v);
?>
--EXPECTF--
%s: unserialize(): Error at offset 56 of 57 bytes in %s on line %d
bool(false)

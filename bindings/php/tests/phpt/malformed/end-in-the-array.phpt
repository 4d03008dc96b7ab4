--TEST--
An array without its closing brace is malformed
--FILE--
<?php
var_dump(unserialize('a:1:{i:0;i:1;'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 13 of 13 bytes in %s on line %d
bool(false)

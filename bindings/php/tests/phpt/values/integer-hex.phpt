--TEST--
A hexadecimal integer is malformed
--FILE--
<?php
var_dump(unserialize('i:0x1A;'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 7 bytes in %s on line %d
bool(false)

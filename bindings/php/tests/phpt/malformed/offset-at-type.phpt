--TEST--
The offset of an unknown type is that of its letter
--FILE--
<?php
var_dump(unserialize('x:1;'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 4 bytes in %s on line %d
bool(false)

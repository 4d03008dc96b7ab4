--TEST--
A negative count is malformed
--FILE--
<?php
var_dump(unserialize('a:-1:{}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 7 bytes in %s on line %d
bool(false)

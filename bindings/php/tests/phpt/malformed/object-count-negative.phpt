--TEST--
A negative count of properties is malformed
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass":-1:{}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 17 of 20 bytes in %s on line %d
bool(false)

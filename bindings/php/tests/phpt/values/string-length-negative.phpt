--TEST--
A negative length is malformed
--FILE--
<?php
var_dump(unserialize('s:-1:"";'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 8 bytes in %s on line %d
bool(false)

--TEST--
A length beyond 64 bits is malformed
--FILE--
<?php
var_dump(unserialize('s:99999999999999999999999:"abc";'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 2 of 32 bytes in %s on line %d
bool(false)

--TEST--
A count of properties beyond 64 bits is malformed
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass":99999999999999999999:{}'));
?>
--EXPECTF--
Warning: unserialize(): Numerical result out of range in %s on line %d

%s: unserialize(): Error at offset 35 of 38 bytes in %s on line %d
bool(false)

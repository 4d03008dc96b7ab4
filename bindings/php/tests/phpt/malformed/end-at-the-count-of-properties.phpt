--TEST--
A text that ends before the count of properties is malformed
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass":'));
?>
--EXPECTF--
Warning: Bad unserialize data in %s on line %d

%s: unserialize(): Error at offset 13 of 15 bytes in %s on line %d
bool(false)

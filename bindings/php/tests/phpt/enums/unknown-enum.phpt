--TEST--
A case of a missing enum is refused
--FILE--
<?php
var_dump(unserialize('E:8:"None:One";'));
?>
--EXPECTF--
Warning: unserialize(): Class 'None' not found in %s on line %d

%s: unserialize(): Error at offset 0 of 15 bytes in %s on line %d
bool(false)

--TEST--
An object without its block of properties is malformed
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass"'), unserialize('O:8:"stdClass":0'), unserialize('O:8:"stdClass":0:'), unserialize('O:8:"stdClass";'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 14 of 14 bytes in %s on line %d

%s: unserialize(): Error at offset 16 of 16 bytes in %s on line %d

%s: unserialize(): Error at offset 17 of 17 bytes in %s on line %d

%s: unserialize(): Error at offset 14 of 15 bytes in %s on line %d
bool(false)
bool(false)
bool(false)
bool(false)

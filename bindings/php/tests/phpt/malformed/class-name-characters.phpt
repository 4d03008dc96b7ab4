--TEST--
A class name with invalid characters is malformed
--FILE--
<?php
var_dump(unserialize('O:3:"a b":0:{}'), unserialize('O:3:"a-b":0:{}'), unserialize("O:3:\"a\0b\":0:{}"));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 14 bytes in %s on line %d

%s: unserialize(): Error at offset 0 of 14 bytes in %s on line %d

%s: unserialize(): Error at offset 0 of 14 bytes in %s on line %d
bool(false)
bool(false)
bool(false)

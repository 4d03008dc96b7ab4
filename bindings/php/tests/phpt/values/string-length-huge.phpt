--TEST--
A huge length of a string does not allocate memory
--FILE--
<?php
var_dump(unserialize('s:9223372036854775807:"abc";'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 2 of 28 bytes in %s on line %d
bool(false)

--TEST--
The offset of an unknown type is where it stands
--FILE--
<?php
var_dump(unserialize('x:1;'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 4 bytes in %s on line %d
bool(false)

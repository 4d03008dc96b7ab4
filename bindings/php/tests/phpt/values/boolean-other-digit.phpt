--TEST--
A boolean that is neither 0 nor 1 is malformed
--FILE--
<?php
var_dump(unserialize('b:2;'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 4 bytes in %s on line %d
bool(false)

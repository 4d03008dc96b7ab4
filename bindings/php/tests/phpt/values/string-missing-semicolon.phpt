--TEST--
The semicolon after a string is required
--FILE--
<?php
var_dump(unserialize('s:3:"abc"'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 9 of 9 bytes in %s on line %d
bool(false)

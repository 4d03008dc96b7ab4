--TEST--
The offset of a wrong property value is reported
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass":1:{s:1:"a";x}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 26 of 28 bytes in %s on line %d
bool(false)

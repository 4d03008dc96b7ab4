--TEST--
A huge count of properties does not allocate memory
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass":2000000000:{s:1:"a";i:1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 25 of 40 bytes in %s on line %d
bool(false)

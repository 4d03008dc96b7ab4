--TEST--
A malformed case in the place of a key gives only the error at the key
--FILE--
<?php
var_dump(unserialize('a:1:{E:8:"timezone";i:1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 5 of 25 bytes in %s on line %d
bool(false)

--TEST--
Fewer properties than the count are malformed
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass":2:{s:1:"a";i:1;}'));
?>
--EXPECTF--
%s: unserialize(): Unexpected end of serialized data in %s on line %d

%s: unserialize(): Error at offset 30 of 31 bytes in %s on line %d
bool(false)

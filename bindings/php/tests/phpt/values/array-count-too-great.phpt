--TEST--
An array with fewer elements than its count is malformed
--FILE--
<?php
var_dump(unserialize('a:2:{i:0;i:1;}'));
?>
--EXPECTF--
%s: unserialize(): Unexpected end of serialized data in %s on line %d

%s: unserialize(): Error at offset 13 of 14 bytes in %s on line %d
bool(false)

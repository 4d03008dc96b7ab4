--TEST--
A key without a value is malformed
--FILE--
<?php
var_dump(unserialize('a:1:{i:0;}'));
?>
--EXPECTF--
%s: unserialize(): Unexpected end of serialized data in %s on line %d

%s: unserialize(): Error at offset 9 of 10 bytes in %s on line %d
bool(false)

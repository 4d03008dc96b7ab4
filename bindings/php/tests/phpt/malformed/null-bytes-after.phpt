--TEST--
NUL bytes in the place of values are malformed
--FILE--
<?php
var_dump(unserialize("\0"), unserialize("a:1:{i:0;\0}"));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 1 bytes in %s on line %d

%s: unserialize(): Error at offset 9 of 11 bytes in %s on line %d
bool(false)
bool(false)

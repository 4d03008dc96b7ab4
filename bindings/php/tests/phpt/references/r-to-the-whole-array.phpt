--TEST--
r:1 in an array at the root is malformed
--FILE--
<?php
var_dump(unserialize('a:2:{i:0;i:7;i:1;r:1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 21 of 22 bytes in %s on line %d
bool(false)

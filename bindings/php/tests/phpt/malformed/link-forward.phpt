--TEST--
A link to a later value is malformed
--FILE--
<?php
var_dump(unserialize('a:2:{i:0;R:3;i:1;i:1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 13 of 22 bytes in %s on line %d
bool(false)

--TEST--
A huge count of an array does not allocate memory
--FILE--
<?php
var_dump(unserialize('a:2147483647:{i:0;i:1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 14 of 23 bytes in %s on line %d
bool(false)

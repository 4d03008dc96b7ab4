--TEST--
The offset in an array is that of the wrong element
--FILE--
<?php
var_dump(unserialize('a:2:{i:0;i:1;i:1;x:1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 17 of 22 bytes in %s on line %d
bool(false)

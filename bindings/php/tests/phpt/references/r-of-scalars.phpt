--TEST--
r to a value that is not an object is malformed
--FILE--
<?php
var_dump(unserialize('a:2:{i:0;i:5;i:1;r:2;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 21 of 22 bytes in %s on line %d
bool(false)

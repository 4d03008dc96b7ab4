--TEST--
An array with more elements than its count is malformed
--FILE--
<?php
var_dump(unserialize('a:1:{i:0;i:1;i:1;i:2;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 13 of 22 bytes in %s on line %d
bool(false)

--TEST--
The offset of a wrong key is reported
--FILE--
<?php
var_dump(unserialize('a:1:{x:0;i:1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 5 of 14 bytes in %s on line %d
bool(false)

--TEST--
Elements after a count of zero are malformed
--FILE--
<?php
var_dump(unserialize('a:0:{i:0;i:1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 5 of 14 bytes in %s on line %d
bool(false)

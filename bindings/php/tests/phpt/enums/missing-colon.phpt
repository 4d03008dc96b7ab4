--TEST--
An enum text without a colon is malformed
--FILE--
<?php
var_dump(unserialize('E:4:"Suit";'));
?>
--EXPECTF--
Warning: unserialize(): Invalid enum name 'Suit' (missing colon) in %s on line %d

%s: unserialize(): Error at offset 0 of 11 bytes in %s on line %d
bool(false)

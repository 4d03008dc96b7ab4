--TEST--
Blanks before an integer are malformed
--FILE--
<?php
var_dump(unserialize('i: 5;'), unserialize('i:5 ;'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 5 bytes in %s on line %d

%s: unserialize(): Error at offset 0 of 5 bytes in %s on line %d
bool(false)
bool(false)

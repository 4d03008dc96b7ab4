--TEST--
A blank before the value is malformed
--FILE--
<?php
var_dump(unserialize(' i:1;'), unserialize("\xEF\xBB\xBFi:1;"));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 5 bytes in %s on line %d

%s: unserialize(): Error at offset 0 of 7 bytes in %s on line %d
bool(false)
bool(false)

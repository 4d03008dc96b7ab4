--TEST--
A link without a number is malformed
--FILE--
<?php
var_dump(unserialize('a:2:{i:0;i:1;i:1;R:x;}'), unserialize('a:2:{i:0;i:1;i:1;R:;}'), unserialize('a:2:{i:0;i:1;i:1;R:2}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 17 of 22 bytes in %s on line %d

%s: unserialize(): Error at offset 17 of 21 bytes in %s on line %d

%s: unserialize(): Error at offset 17 of 21 bytes in %s on line %d
bool(false)
bool(false)
bool(false)

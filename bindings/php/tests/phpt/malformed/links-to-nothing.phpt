--TEST--
A link to a missing value is malformed
--FILE--
<?php
var_dump(unserialize('R:1;'), unserialize('r:1;'), unserialize('a:1:{i:0;R:5;}'), unserialize('a:1:{i:0;r:0;}'), unserialize('a:1:{i:0;R:-1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 4 of 4 bytes in %s on line %d

%s: unserialize(): Error at offset 4 of 4 bytes in %s on line %d

%s: unserialize(): Error at offset 13 of 14 bytes in %s on line %d

%s: unserialize(): Error at offset 13 of 14 bytes in %s on line %d

%s: unserialize(): Error at offset 9 of 15 bytes in %s on line %d
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)

--TEST--
An integer without digits is malformed
--FILE--
<?php
var_dump(unserialize('i:;'), unserialize('i:-;'), unserialize('i:+;'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 3 bytes in %s on line %d

%s: unserialize(): Error at offset 0 of 4 bytes in %s on line %d

%s: unserialize(): Error at offset 0 of 4 bytes in %s on line %d
bool(false)
bool(false)
bool(false)

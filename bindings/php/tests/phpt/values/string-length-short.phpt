--TEST--
A string that is longer than its length is malformed
--FILE--
<?php
var_dump(unserialize('s:2:"abc";'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 7 of 10 bytes in %s on line %d
bool(false)

--TEST--
A string that is shorter than its length is malformed
--FILE--
<?php
var_dump(unserialize('s:5:"abc";'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 10 of 10 bytes in %s on line %d
bool(false)

--TEST--
The offset in nested arrays is that in the innermost array
--FILE--
<?php
var_dump(unserialize('a:1:{i:0;a:1:{i:0;a:1:{i:0;z}}}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 27 of 31 bytes in %s on line %d
bool(false)

--TEST--
More properties than the count are malformed
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass":1:{s:1:"a";i:1;s:1:"b";i:2;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 30 of 43 bytes in %s on line %d
bool(false)

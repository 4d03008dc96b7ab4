--TEST--
The quotes around a class name are required
--FILE--
<?php
var_dump(unserialize('O:8:stdClass:0:{}'), unserialize("O:8:'stdClass':0:{}"));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 17 bytes in %s on line %d

%s: unserialize(): Error at offset 0 of 19 bytes in %s on line %d
bool(false)
bool(false)

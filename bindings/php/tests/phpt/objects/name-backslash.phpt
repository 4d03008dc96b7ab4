--TEST--
A class name with a leading backslash is malformed
--FILE--
<?php
class Plain
{
}
var_dump(unserialize('O:6:"\Plain":0:{}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 17 bytes in %s on line %d
bool(false)

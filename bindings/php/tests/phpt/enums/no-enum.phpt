--TEST--
A case of a class that is not an enum is refused
--FILE--
<?php
class Plain
{
    const One = 1;
}
var_dump(unserialize('E:9:"Plain:One";'));
?>
--EXPECTF--
Warning: unserialize(): Class 'Plain' is not an enum in %s on line %d

%s: unserialize(): Error at offset 0 of 16 bytes in %s on line %d
bool(false)

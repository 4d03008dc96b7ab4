--TEST--
A property with an R link to itself is malformed
--FILE--
<?php
class Typed
{
    public ?int $i = 1;
}
var_dump(unserialize('O:5:"Typed":1:{s:1:"i";R:2;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 27 of 28 bytes in %s on line %d
bool(false)

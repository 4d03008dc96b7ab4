--TEST--
A case can't be a key
--FILE--
<?php
enum Suit
{
    case Hearts;
}
var_dump(unserialize('a:1:{E:11:"Suit:Hearts";i:1;}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 5 of 29 bytes in %s on line %d
bool(false)

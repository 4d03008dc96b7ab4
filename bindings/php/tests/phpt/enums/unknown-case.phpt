--TEST--
A case that the enum does not have is refused
--FILE--
<?php
enum Suit
{
    case Hearts;
}
var_dump(unserialize('E:10:"Suit:Clubs";'));
?>
--EXPECTF--
Warning: unserialize(): Undefined constant Suit::Clubs in %s on line %d

%s: unserialize(): Error at offset 18 of 18 bytes in %s on line %d
bool(false)

--TEST--
Enum names match without regard to case, names of cases do not
--FILE--
<?php
enum Suit
{
    case Hearts;
}
var_dump(unserialize('E:11:"suit:Hearts";'));
var_dump(unserialize('E:11:"Suit:hearts";'));
?>
--EXPECTF--
enum(Suit::Hearts)

Warning: unserialize(): Undefined constant Suit::hearts in %s on line %d

%s: unserialize(): Error at offset 19 of 19 bytes in %s on line %d
bool(false)

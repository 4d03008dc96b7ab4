--TEST--
A constant of an enum can't be read as a case
--FILE--
<?php
enum Suit
{
    case Hearts;
    const Default = self::Hearts;
}
var_dump(unserialize('E:12:"Suit:Default";'));
?>
--EXPECTF--
Warning: unserialize(): Suit::Default is not an enum case in %s on line %d

%s: unserialize(): Error at offset 20 of 20 bytes in %s on line %d
bool(false)

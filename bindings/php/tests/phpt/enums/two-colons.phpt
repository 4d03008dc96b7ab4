--TEST--
The text after the first of two colons is the name of the case
--FILE--
<?php
enum Suit
{
    case Hearts;
}
var_dump(unserialize('E:12:"Suit::Hearts";'));
?>
--EXPECTF--
Warning: unserialize(): Undefined constant Suit:::Hearts in %s on line %d

%s: unserialize(): Error at offset 20 of 20 bytes in %s on line %d
bool(false)

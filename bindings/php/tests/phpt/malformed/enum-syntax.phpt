--TEST--
An enum case needs its colon, its quotes and its length
--FILE--
<?php
enum Suit
{
    case Hearts;
}
foreach (['E:11:"Suit:Hearts"', 'E:10:"SuitHearts";', 'E:12:"Suit:Hearts";', 'E:10:"Suit:Hearts";', 'E:11:Suit:Hearts;'] as $text) {
    var_dump(unserialize($text));
}
?>
--EXPECTF--
%s: unserialize(): Error at offset 18 of 18 bytes in %s on line %d
bool(false)

Warning: unserialize(): Invalid enum name 'SuitHearts' (missing colon) in %s on line %d

%s: unserialize(): Error at offset 0 of 18 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 18 of 19 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 16 of 19 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 0 of 17 bytes in %s on line %d
bool(false)

--TEST--
A case of an enum without values survives a round trip
--FILE--
<?php
enum Suit
{
    case Hearts;
    case Spades;
}
echo $s = serialize(Suit::Hearts), "\n";
var_dump(unserialize($s) === Suit::Hearts, unserialize('E:11:"Suit:Spades";'));
?>
--EXPECT--
E:11:"Suit:Hearts";
bool(true)
enum(Suit::Spades)

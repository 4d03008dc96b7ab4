--TEST--
A case that was read compares as identical in a match
--FILE--
<?php
enum Suit
{
    case Hearts;
    case Spades;
}
foreach (unserialize('a:2:{i:0;E:11:"Suit:Spades";i:1;E:11:"Suit:Hearts";}') as $suit) {
    echo match ($suit) { Suit::Hearts => 'H', Suit::Spades => 'S' }, "\n";
}
?>
--EXPECT--
S
H

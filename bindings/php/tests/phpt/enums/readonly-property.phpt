--TEST--
A readonly property may have a case
--FILE--
<?php
enum Suit
{
    case Hearts;
    case Spades;
}
class Card
{
    function __construct(public readonly Suit $suit)
    {
    }
}
$o = unserialize(serialize(new Card(Suit::Spades)));
var_dump($o->suit);
?>
--EXPECT--
enum(Suit::Spades)

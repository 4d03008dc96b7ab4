--TEST--
A property that the text lacks may have an enum case as its default
--FILE--
<?php
enum Suit
{
    case Hearts;
}
class Card
{
    public Suit $suit = Suit::Hearts;
}
echo serialize(unserialize('O:4:"Card":0:{}')), "\n";
?>
--EXPECT--
O:4:"Card":1:{s:4:"suit";E:11:"Suit:Hearts";}

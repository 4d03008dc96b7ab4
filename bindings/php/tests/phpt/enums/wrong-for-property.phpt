--TEST--
A case of another enum does not fit a typed property
--FILE--
<?php
enum Suit
{
    case Hearts;
}
enum Colour
{
    case Red;
}
class Card
{
    public Suit $suit;
}
try {
    unserialize('O:4:"Card":1:{s:4:"suit";E:10:"Colour:Red";}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot assign Colour to property Card::$suit of type Suit

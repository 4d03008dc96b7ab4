--TEST--
Enum cases in arrays and properties survive a round trip
--FILE--
<?php
enum Suit
{
    case Hearts;
}
class Card
{
    public Suit $suit = Suit::Hearts;
    public readonly ?Suit $other;
}
echo $s = serialize(['c' => new Card, 's' => Suit::Hearts]), "\n";
$v = unserialize($s);
var_dump($v['c']->suit === $v['s']);
?>
--EXPECT--
a:2:{s:1:"c";O:4:"Card":1:{s:4:"suit";E:11:"Suit:Hearts";}s:1:"s";r:3;}
bool(true)

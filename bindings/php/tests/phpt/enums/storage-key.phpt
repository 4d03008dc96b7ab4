--TEST--
Cases may be keys of an SplObjectStorage
--FILE--
<?php
enum Suit
{
    case Hearts;
    case Spades;
}
$o = new SplObjectStorage;
$o[Suit::Hearts] = 1;
$o[Suit::Spades] = 2;
$b = unserialize(serialize($o));
var_dump($b[Suit::Hearts], $b[Suit::Spades]);
?>
--EXPECT--
int(1)
int(2)

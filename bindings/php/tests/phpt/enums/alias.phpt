--TEST--
An enum can be read by its alias
--FILE--
<?php
enum Suit
{
    case Hearts;
}
class_alias('Suit', 'Farbe');
echo serialize(unserialize('E:12:"Farbe:Hearts";')), "\n";
?>
--EXPECT--
E:11:"Suit:Hearts";

--TEST--
A case that was read may be the key of a WeakMap
--FILE--
<?php
enum Suit
{
    case Hearts;
}
$map = new WeakMap;
$map[Suit::Hearts] = 'value';
var_dump($map[unserialize('E:11:"Suit:Hearts";')]);
?>
--EXPECT--
string(5) "value"

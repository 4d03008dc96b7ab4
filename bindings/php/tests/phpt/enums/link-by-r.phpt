--TEST--
An r link may refer to a case
--FILE--
<?php
enum Suit
{
    case Hearts;
}
$v = unserialize('a:2:{i:0;E:11:"Suit:Hearts";i:1;r:2;}');
var_dump($v[1]);
?>
--EXPECT--
enum(Suit::Hearts)

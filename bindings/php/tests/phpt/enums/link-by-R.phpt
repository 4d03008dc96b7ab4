--TEST--
An R link to a case makes both places one variable
--FILE--
<?php
enum Suit
{
    case Hearts;
}
$v = unserialize('a:2:{i:0;E:11:"Suit:Hearts";i:1;R:2;}');
$v[0] = 1;
var_dump($v[1]);
?>
--EXPECT--
int(1)

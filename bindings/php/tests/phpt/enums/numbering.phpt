--TEST--
A case counts as a value for links
--FILE--
<?php
enum Suit
{
    case Hearts;
}
$v = unserialize('a:3:{i:0;E:11:"Suit:Hearts";i:1;s:1:"x";i:2;R:3;}');
var_dump($v[2]);
?>
--EXPECT--
string(1) "x"

--TEST--
Enum cases are exported as constants
--FILE--
<?php
enum Suit: string
{
    case Hearts = 'h';
}
var_export([Suit::Hearts, (object) ['s' => Suit::Hearts]]);
?>
--EXPECT--
array (
  0 => 
  \Suit::Hearts,
  1 => 
  (object) array(
     's' => 
    \Suit::Hearts,
  ),
)

--TEST--
A constant that refers to an enum case is exported as the case
--FILE--
<?php
enum Suit
{
    case Hearts;
    const Best = self::Hearts;
}
var_export(['best' => Suit::Best]);
?>
--EXPECT--
array (
  'best' => 
  \Suit::Hearts,
)

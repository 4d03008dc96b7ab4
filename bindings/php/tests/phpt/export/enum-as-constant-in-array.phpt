--TEST--
A constant of an enum is exported as its case
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

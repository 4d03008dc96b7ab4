--TEST--
A property with an interface type accepts an enum that implements it
--FILE--
<?php
interface Named
{
}
enum Suit implements Named
{
    case Hearts;
}
class Holder
{
    public Named|UnitEnum|null $n = null;
}
var_dump(unserialize('O:6:"Holder":1:{s:1:"n";E:11:"Suit:Hearts";}')->n);
?>
--EXPECT--
enum(Suit::Hearts)

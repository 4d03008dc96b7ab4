--TEST--
A method of the enum itself reads a case
--FILE--
<?php
enum Suit
{
    case Hearts;

    static function make() { return unserialize(serialize(self::Hearts)); }
}
var_dump(Suit::make());
?>
--EXPECT--
enum(Suit::Hearts)

--TEST--
A method of an enum may read a case of it
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

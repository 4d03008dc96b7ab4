--TEST--
A class with a private constructor can be read
--FILE--
<?php
class Single
{
    public $a = 1;

    private function __construct()
    {
    }

    static function make() { return new static; }
}
var_dump(unserialize(serialize(Single::make())) == Single::make());
?>
--EXPECT--
bool(true)

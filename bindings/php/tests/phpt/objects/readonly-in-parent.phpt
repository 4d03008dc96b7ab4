--TEST--
A readonly property of the parent survives a round trip
--FILE--
<?php
class Base
{
    public function __construct(protected readonly int $id)
    {
    }
}
class Child extends Base
{
    public $x = 1;
}
echo strtr($s = serialize(new Child(7)), "\0", '~'), "\n";
var_dump(unserialize($s) == new Child(7));
?>
--EXPECT--
O:5:"Child":2:{s:5:"~*~id";i:7;s:1:"x";i:1;}
bool(true)

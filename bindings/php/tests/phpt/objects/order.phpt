--TEST--
Properties are written in the order of declaration, the parent's first
--FILE--
<?php
class Base
{
    public $z = 1;
    private $y = 2;
}
class Derived extends Base
{
    public $a = 3;
    public $z = 4;
}
echo strtr(serialize(new Derived), "\0", '~'), "\n";
?>
--EXPECT--
O:7:"Derived":3:{s:1:"z";i:4;s:7:"~Base~y";i:2;s:1:"a";i:3;}

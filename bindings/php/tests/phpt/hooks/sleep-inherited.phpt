--TEST--
An inherited __sleep sees the properties of its own class and public ones
--FILE--
<?php
class Base
{
    private $p = 1;
    protected $q = 2;

    function __sleep() { return ['p', 'q']; }
}
class Derived extends Base
{
    private $p = 3;
    protected $q = 4;
}
echo strtr(serialize(new Base), "\0", '~'), "\n";
echo strtr(serialize(new Derived), "\0", '~'), "\n";
?>
--EXPECT--
O:4:"Base":2:{s:7:"~Base~p";i:1;s:4:"~*~q";i:2;}
O:7:"Derived":2:{s:10:"~Derived~p";i:3;s:4:"~*~q";i:4;}

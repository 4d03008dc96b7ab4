--TEST--
__sleep of a child reaches a private property of its parent by the mangled name
--FILE--
<?php
class Base
{
    private $p = 1;
}
class Derived extends Base
{
    private $q = 2;

    function __sleep() { return ["\0Base\0p", 'q']; }
}
echo strtr(serialize(new Derived), "\0", '~'), "\n";
?>
--EXPECT--
O:7:"Derived":2:{s:7:"~Base~p";i:1;s:10:"~Derived~q";i:2;}

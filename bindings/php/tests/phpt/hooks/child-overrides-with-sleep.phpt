--TEST--
The parent's __serialize takes precedence over the child's __sleep
--FILE--
<?php
class Base
{
    public $a = 1;

    function __serialize(): array { return ['from' => 'serialize']; }
}
class Child extends Base
{
    function __sleep() { return ['a']; }
}
echo serialize(new Child), "\n";
?>
--EXPECT--
O:5:"Child":1:{s:4:"from";s:9:"serialize";}

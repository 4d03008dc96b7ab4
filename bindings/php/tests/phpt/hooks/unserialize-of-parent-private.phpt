--TEST--
A child's __unserialize receives private properties of the parent
--FILE--
<?php
class Base
{
    private $p = 1;
}
class Child extends Base
{
    public $q = 2;

    function __unserialize(array $data): void { echo strtr(implode(' ', array_keys($data)), "\0", '~'), "\n"; }
}
unserialize(serialize(new Child));
?>
--EXPECT--
~Base~p q

--TEST--
A property with a class type accepts objects of it and of its children
--FILE--
<?php
class A
{
}
class B extends A
{
}
class Holder
{
    public A $a;
}
var_dump(get_class(unserialize('O:6:"Holder":1:{s:1:"a";O:1:"B":0:{}}')->a));
try {
    unserialize('O:6:"Holder":1:{s:1:"a";O:8:"stdClass":0:{}}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
string(1) "B"
Cannot assign stdClass to property Holder::$a of type A

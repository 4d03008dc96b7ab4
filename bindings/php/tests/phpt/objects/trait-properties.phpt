--TEST--
Properties of a trait belong to the class that uses it
--FILE--
<?php
trait Named
{
    private $name = 'n';
    protected static $all = [];
}
class Person
{
    use Named;
}
class Child extends Person
{
    use Named;
}
echo strtr(serialize(new Person), "\0", '~'), "\n", strtr(serialize(new Child), "\0", '~'), "\n";
?>
--EXPECT--
O:6:"Person":1:{s:12:"~Person~name";s:1:"n";}
O:5:"Child":2:{s:12:"~Person~name";s:1:"n";s:11:"~Child~name";s:1:"n";}

--TEST--
A variable in properties of two class types must fit both
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
    public ?A $a = null;
    public ?B $b = null;
}
$v = unserialize('O:6:"Holder":2:{s:1:"a";O:1:"B":0:{}s:1:"b";R:2;}');
try {
    $v->a = new A;
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
$v->a = null;
var_dump($v->b);
?>
--EXPECT--
Cannot assign A to reference held by property Holder::$b of type ?B
NULL

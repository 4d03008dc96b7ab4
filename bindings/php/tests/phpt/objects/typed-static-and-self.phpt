--TEST--
Properties with the types self and parent are checked
--FILE--
<?php
class Base
{
    public ?self $s = null;
}
class Child extends Base
{
    public ?parent $p = null;
}
$c = new Child;
$c->s = new Base;
$c->p = new Child;
var_dump(unserialize(serialize($c)) == $c);
try {
    unserialize('O:5:"Child":1:{s:1:"p";O:8:"stdClass":0:{}}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
bool(true)
Cannot assign stdClass to property Child::$p of type ?parent

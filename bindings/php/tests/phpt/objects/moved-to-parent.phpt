--TEST--
A property that was private in the class and is private in its parent now
--FILE--
<?php
class Base
{
    private $a = 'default';

    function a() { return $this->a; }
}
class Derived extends Base
{
}
$o = unserialize("O:7:\"Derived\":1:{s:7:\"\0Base\0a\";i:1;}");
var_dump($o->a());
?>
--EXPECT--
int(1)

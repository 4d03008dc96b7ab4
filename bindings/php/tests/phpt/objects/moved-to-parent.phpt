--TEST--
A private property of the parent gets its value under the parent's mangled name
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

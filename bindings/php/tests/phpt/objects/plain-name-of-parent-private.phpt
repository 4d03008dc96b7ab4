--TEST--
A plain name does not set the parent's private property
--FILE--
<?php
#[AllowDynamicProperties]
class Base
{
    private $p = 'default';

    function p() { return $this->p; }
}
class Child extends Base
{
}
$o = unserialize('O:5:"Child":1:{s:1:"p";s:1:"x";}');
var_dump($o->p());
echo strtr(serialize($o), "\0", '~'), "\n";
?>
--EXPECT--
string(1) "x"
O:5:"Child":1:{s:7:"~Base~p";s:1:"x";}

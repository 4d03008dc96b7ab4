--TEST--
Private properties with one name in parent and child are kept apart
--FILE--
<?php
class Base
{
    private $p = 'base';

    function base() { return $this->p; }
}
class Derived extends Base
{
    private $p = 'derived';

    function derived() { return $this->p; }
}
echo strtr($s = serialize(new Derived), "\0", '~'), "\n";
$o = unserialize($s);
echo $o->base(), ' ', $o->derived(), "\n";
?>
--EXPECT--
O:7:"Derived":2:{s:7:"~Base~p";s:4:"base";s:10:"~Derived~p";s:7:"derived";}
base derived

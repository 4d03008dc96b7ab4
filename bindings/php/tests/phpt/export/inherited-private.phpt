--TEST--
Private properties of the parent are exported under their plain names
--FILE--
<?php
class Base
{
    private $p = 'base';
}
class Derived extends Base
{
    private $q = 'derived';
}
var_export(new Derived);
?>
--EXPECT--
\Derived::__set_state(array(
   'p' => 'base',
   'q' => 'derived',
))

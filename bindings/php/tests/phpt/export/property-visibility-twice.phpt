--TEST--
Private properties with one name in parent and child are both exported
--FILE--
<?php
class Base
{
    private $p = 1;
}
class Child extends Base
{
    private $p = 2;
}
var_export(new Child);
?>
--EXPECT--
\Child::__set_state(array(
   'p' => 1,
   'p' => 2,
))

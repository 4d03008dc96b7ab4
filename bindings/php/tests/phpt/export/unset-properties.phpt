--TEST--
Unset properties are not exported
--FILE--
<?php
class Cleared
{
    public $a = 1;
    public $b = 2;
}
$o = new Cleared;
unset($o->a);
var_export($o);
?>
--EXPECT--
\Cleared::__set_state(array(
   'b' => 2,
))

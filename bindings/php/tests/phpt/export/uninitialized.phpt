--TEST--
Typed properties without a value are left out
--FILE--
<?php
class Late
{
    public int $a;
    public ?int $b = null;
}
var_export(new Late);
?>
--EXPECT--
\Late::__set_state(array(
   'b' => NULL,
))

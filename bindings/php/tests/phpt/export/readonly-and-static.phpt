--TEST--
Readonly properties are exported, static ones are not
--FILE--
<?php
class Mixed1
{
    public static $s = 1;
    const C = 2;

    function __construct(public readonly int $r = 3)
    {
    }
}
var_export(new Mixed1);
?>
--EXPECT--
\Mixed1::__set_state(array(
   'r' => 3,
))

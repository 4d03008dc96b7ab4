--TEST--
Attributes and final do not affect reading
--FILE--
<?php
#[Attribute]
final class Marked
{
    public $a = 1;
}
var_dump(unserialize(serialize(new Marked))->a);
?>
--EXPECT--
int(1)

--TEST--
Attributes and final do not matter
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

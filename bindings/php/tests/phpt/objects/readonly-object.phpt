--TEST--
An object in a readonly property can be changed
--FILE--
<?php
class Box
{
    function __construct(public readonly stdClass $in)
    {
    }
}
$o = unserialize(serialize(new Box((object) ['n' => 1])));
$o->in->n++;
var_dump($o->in->n);
?>
--EXPECT--
int(2)

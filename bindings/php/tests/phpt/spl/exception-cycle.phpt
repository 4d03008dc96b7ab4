--TEST--
An exception with a property that contains it survives a round trip
--FILE--
<?php
#[AllowDynamicProperties]
class Loops extends Exception
{
    public $self;
}
$e = new Loops('m');
$e->self = $e;
$b = unserialize(serialize($e));
var_dump($b->self === $b, $b->getMessage());
?>
--EXPECT--
bool(true)
string(1) "m"

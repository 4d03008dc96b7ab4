--TEST--
A variable of two properties must fit both types
--FILE--
<?php
class Typed
{
    public int $i = 1;
    public int|string $u = 2;
}
$o = new Typed;
$o->u = &$o->i;
$b = unserialize(serialize($o));
try {
    $b->u = 'text';
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot assign string to reference held by property Typed::$i of type int

--TEST--
A reference keeps the type of its property after reading
--FILE--
<?php
class Typed
{
    public int $i = 1;
    public $any;
}
$o = new Typed;
$o->any = &$o->i;
echo $s = serialize($o), "\n";
$b = unserialize($s);
try {
    $b->any = 'text';
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
$b->any = 7;
var_dump($b->i);
?>
--EXPECT--
O:5:"Typed":2:{s:1:"i";i:1;s:3:"any";R:2;}
Cannot assign string to reference held by property Typed::$i of type int
int(7)

--TEST--
A value of a private or protected property goes to the property that is public now
--FILE--
<?php
class Changed
{
    public $a = 'default';
    public $b = 'default';
}
$o = unserialize("O:7:\"Changed\":2:{s:10:\"\0Changed\0a\";i:1;s:4:\"\0*\0b\";i:2;}");
var_dump($o->a, $o->b, count((array) $o));
?>
--EXPECT--
int(1)
int(2)
int(2)

--TEST--
A property under two forms of its name has the later value
--FILE--
<?php
class Twice
{
    public $a;
}
$o = unserialize("O:5:\"Twice\":2:{s:1:\"a\";i:1;s:4:\"\0*\0a\";i:2;}");
var_dump($o->a, count((array) $o));
?>
--EXPECT--
int(2)
int(1)

--TEST--
A private property of an unrelated class is kept as a property of that class
--FILE--
<?php
$o = unserialize("O:8:\"stdClass\":1:{s:8:\"\0Other\0b\";i:2;}");
echo strtr(serialize($o), "\0", '~'), "\n";
var_dump(isset($o->b));
?>
--EXPECT--
O:8:"stdClass":1:{s:8:"~Other~b";i:2;}
bool(false)

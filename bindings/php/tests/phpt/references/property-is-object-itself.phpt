--TEST--
A property may be a reference to its own object
--FILE--
<?php
$o = new stdClass;
$o->me = &$o;
echo $s = serialize($o), "\n";
$b = unserialize($s);
var_dump($b->me === $b);
?>
--EXPECT--
O:8:"stdClass":1:{s:2:"me";R:1;}
bool(true)

--TEST--
A property that refers to its own object as a variable
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

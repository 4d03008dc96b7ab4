--TEST--
An object that contains itself survives a round trip
--FILE--
<?php
$o = new stdClass;
$o->self = $o;
echo $s = serialize($o), "\n";
$back = unserialize($s);
var_dump($back->self === $back);
?>
--EXPECT--
O:8:"stdClass":1:{s:4:"self";r:1;}
bool(true)

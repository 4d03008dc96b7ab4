--TEST--
A property with an empty name survives a round trip
--FILE--
<?php
$o = unserialize('O:8:"stdClass":1:{s:0:"";i:1;}');
var_dump($o);
echo serialize($o), "\n";
?>
--EXPECTF--
object(stdClass)#%d (1) {
  [""]=>
  int(1)
}
O:8:"stdClass":1:{s:0:"";i:1;}

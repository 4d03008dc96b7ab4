--TEST--
An ArrayObject that contains itself survives a round trip
--FILE--
<?php
$o = new ArrayObject;
$o['me'] = $o;
echo $s = serialize($o), "\n";
$b = unserialize($s);
var_dump($b['me'] === $b);
?>
--EXPECT--
O:11:"ArrayObject":4:{i:0;i:0;i:1;a:1:{s:2:"me";r:1;}i:2;a:0:{}i:3;N;}
bool(true)

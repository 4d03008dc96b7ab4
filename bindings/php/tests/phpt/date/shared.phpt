--TEST--
A date that occurs twice is one object
--FILE--
<?php
$d = new DateTime('2020-01-01 UTC');
echo $s = serialize([$d, $d, clone $d]), "\n";
$v = unserialize($s);
var_dump($v[0] === $v[1], $v[0] === $v[2]);
?>
--EXPECT--
a:3:{i:0;O:8:"DateTime":3:{s:4:"date";s:26:"2020-01-01 00:00:00.000000";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";}i:1;r:2;i:2;O:8:"DateTime":3:{s:4:"date";s:26:"2020-01-01 00:00:00.000000";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";}}
bool(true)
bool(false)

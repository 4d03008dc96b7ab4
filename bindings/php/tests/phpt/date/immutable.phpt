--TEST--
A DateTimeImmutable survives a round trip
--FILE--
<?php
$d = new DateTimeImmutable('2020-01-02 03:04:05', new DateTimeZone('UTC'));
echo $s = serialize($d), "\n";
var_dump(unserialize($s) == $d);
?>
--EXPECT--
O:17:"DateTimeImmutable":3:{s:4:"date";s:26:"2020-01-02 03:04:05.000000";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";}
bool(true)

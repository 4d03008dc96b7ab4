--TEST--
A DateTime keeps its microseconds and its zone
--FILE--
<?php
$d = new DateTime('2020-01-02 03:04:05.678901', new DateTimeZone('Europe/Berlin'));
echo $s = serialize($d), "\n";
echo unserialize($s)->format(DATE_RFC3339_EXTENDED), "\n";
?>
--EXPECT--
O:8:"DateTime":3:{s:4:"date";s:26:"2020-01-02 03:04:05.678901";s:13:"timezone_type";i:3;s:8:"timezone";s:13:"Europe/Berlin";}
2020-01-02T03:04:05.678+01:00

--TEST--
A date that is not allowed keeps its properties
--FILE--
<?php
$o = unserialize(serialize(new DateTime('2020-01-01 UTC')), ['allowed_classes' => false]);
echo serialize($o), "\n";
?>
--EXPECT--
O:8:"DateTime":3:{s:4:"date";s:26:"2020-01-01 00:00:00.000000";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";}

--TEST--
Dates written by older PHP versions, with class names in lower case, are read
--FILE--
<?php
$d = unserialize('O:8:"datetime":3:{s:4:"date";s:19:"2001-02-03 04:05:06";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";}');
echo get_class($d), ' ', $d->format('c'), "\n";
?>
--EXPECT--
DateTime 2001-02-03T04:05:06+00:00

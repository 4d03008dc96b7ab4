--TEST--
A DateTime keeps properties that it does not know
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
$d = @unserialize('O:8:"DateTime":4:{s:4:"date";s:19:"2001-02-03 04:05:06";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";s:1:"x";i:1;}');
var_dump($d->format('c'), $d->x);
?>
--EXPECT--
string(25) "2001-02-03T04:05:06+00:00"
int(1)

--TEST--
An incomplete object that occurs twice is one object
--FILE--
<?php
$v = unserialize('a:2:{i:0;O:4:"None":0:{}i:1;r:2;}');
var_dump($v[0] === $v[1]);
echo serialize($v), "\n";
?>
--EXPECT--
bool(true)
a:2:{i:0;O:4:"None":0:{}i:1;r:2;}

--TEST--
A variable outside is no part of the value
--FILE--
<?php
$x = 5;
$a = [&$x, $x];
$b = unserialize(serialize($a));
$b[0] = 6;
var_dump($x, $b[1]);
?>
--EXPECT--
int(5)
int(5)

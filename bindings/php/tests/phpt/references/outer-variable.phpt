--TEST--
A variable outside of the value is not part of it
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

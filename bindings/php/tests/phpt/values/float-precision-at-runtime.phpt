--TEST--
serialize_precision can change while a program runs
--FILE--
<?php
ini_set('serialize_precision', '3');
echo serialize(M_PI), "\n";
ini_set('serialize_precision', '-1');
echo serialize(M_PI), "\n";
ini_set('precision', '3');
echo serialize(M_PI), "\n";
?>
--EXPECT--
d:3.14;
d:3.141592653589793;
d:3.141592653589793;

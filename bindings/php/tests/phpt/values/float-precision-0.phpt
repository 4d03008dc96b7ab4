--TEST--
serialize_precision=0 keeps one digit
--INI--
serialize_precision=0
--FILE--
<?php
echo serialize(1/3), ' ', serialize(250.0), ' ', serialize(1.0), "\n";
?>
--EXPECT--
d:0.3; d:2.0E+2; d:1.0E+0;

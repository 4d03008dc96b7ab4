--TEST--
serialize_precision below 17 rounds
--INI--
serialize_precision=5
--FILE--
<?php
echo serialize(1/3), ' ', serialize(123456789.0), ' ', serialize(0.00001234567), "\n";
?>
--EXPECT--
d:0.33333; d:1.2346E+8; d:1.2346E-5;

--TEST--
serialize_precision=17 writes 17 digits
--INI--
serialize_precision=17
--FILE--
<?php
echo serialize(0.1), ' ', serialize(1.5), ' ', serialize(100.0), "\n";
?>
--EXPECT--
d:0.10000000000000001; d:1.5; d:100;

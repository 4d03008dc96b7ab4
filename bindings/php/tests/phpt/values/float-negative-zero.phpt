--TEST--
Minus zero stays a float with its sign
--FILE--
<?php
echo $s = serialize(-0.0), "\n";
var_dump(1 / (unserialize($s) ?: -1e-320) < 0, unserialize('d:-0;'), unserialize('d:0;'));
?>
--EXPECT--
d:-0;
bool(true)
float(-0)
float(0)

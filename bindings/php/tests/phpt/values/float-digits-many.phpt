--TEST--
A float with too many digits is rounded
--FILE--
<?php
var_dump(unserialize('d:0.1000000000000000055511151231257827021181583404541015625;') === 0.1);
var_dump(unserialize('d:' . str_repeat('9', 400) . ';'));
var_dump(unserialize('d:0.' . str_repeat('0', 400) . '1;'));
?>
--EXPECT--
bool(true)
float(INF)
float(0)

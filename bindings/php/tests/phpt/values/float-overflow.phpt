--TEST--
A float beyond the range of a double becomes infinite or zero
--FILE--
<?php
var_dump(unserialize('d:1e999;'), unserialize('d:-1e999;'), unserialize('d:1e-999;'));
?>
--EXPECT--
float(INF)
float(-INF)
float(0)

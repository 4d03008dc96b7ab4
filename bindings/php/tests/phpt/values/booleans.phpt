--TEST--
Booleans are written as b:0 and b:1
--FILE--
<?php
echo serialize(true), serialize(false), "\n";
var_dump(unserialize('b:1;'), unserialize('b:0;'));
?>
--EXPECT--
b:1;b:0;
bool(true)
bool(false)

--TEST--
Minus zero is read as the integer 0
--FILE--
<?php
var_dump(unserialize('i:-0;'));
?>
--EXPECT--
int(0)

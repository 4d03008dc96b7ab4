--TEST--
b:0; gives false without a message
--FILE--
<?php
var_dump(unserialize('b:0;'));
?>
--EXPECT--
bool(false)

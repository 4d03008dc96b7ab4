--TEST--
The quotes around a string are required
--FILE--
<?php
var_dump(@unserialize("s:3:'abc';"), @unserialize('s:3:abc;'), @unserialize('s:3:"abc'), @unserialize('s:3:"abc;'));
?>
--EXPECT--
bool(false)
bool(false)
bool(false)
bool(false)

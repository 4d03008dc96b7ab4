--TEST--
N has no value
--FILE--
<?php
var_dump(@unserialize('N:;'), @unserialize('N'));
?>
--EXPECT--
bool(false)
bool(false)

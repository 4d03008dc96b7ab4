--TEST--
N with a value is malformed
--FILE--
<?php
var_dump(@unserialize('N:;'), @unserialize('N'));
?>
--EXPECT--
bool(false)
bool(false)

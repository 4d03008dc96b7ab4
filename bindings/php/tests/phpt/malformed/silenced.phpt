--TEST--
The operator @ silences the message
--FILE--
<?php
var_dump(@unserialize('x'));
var_dump(str_contains(error_get_last()['message'], 'Error at offset 0 of 1 bytes'));
?>
--EXPECT--
bool(false)
bool(true)

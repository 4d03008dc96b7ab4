--TEST--
The empty string is not serialized data
--FILE--
<?php
var_dump(unserialize(''));
?>
--EXPECT--
bool(false)

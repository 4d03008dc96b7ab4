--TEST--
The letter o does not begin an object
--FILE--
<?php
var_dump(@unserialize('o:8:"stdClass":0:{}'));
?>
--EXPECT--
bool(false)

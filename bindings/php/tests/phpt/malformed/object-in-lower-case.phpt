--TEST--
The letter o is no object
--FILE--
<?php
var_dump(@unserialize('o:8:"stdClass":0:{}'));
?>
--EXPECT--
bool(false)

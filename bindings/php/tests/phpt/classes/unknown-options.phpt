--TEST--
Options that do not exist are ignored
--FILE--
<?php
var_dump(unserialize('i:1;', ['no_such_option' => 1]));
?>
--EXPECT--
int(1)

--TEST--
A string of 200000 bytes is exported
--FILE--
<?php
var_dump(strlen(var_export(str_repeat("a'", 100000), true)));
?>
--EXPECT--
int(300002)

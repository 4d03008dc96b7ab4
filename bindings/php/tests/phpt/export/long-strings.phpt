--TEST--
A long string
--FILE--
<?php
var_dump(strlen(var_export(str_repeat("a'", 100000), true)));
?>
--EXPECT--
int(300002)

--TEST--
The smallest integer is exported as an expression
--FILE--
<?php
var_export(PHP_INT_MIN);
?>
--EXPECT--
-9223372036854775807-1

--TEST--
var_export writes into an open output buffer
--FILE--
<?php
ob_start();
var_export('x');
echo strtoupper(ob_get_clean()), "\n";
?>
--EXPECT--
'X'

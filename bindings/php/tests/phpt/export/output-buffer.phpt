--TEST--
var_export writes into a buffer that is open
--FILE--
<?php
ob_start();
var_export('x');
echo strtoupper(ob_get_clean()), "\n";
?>
--EXPECT--
'X'

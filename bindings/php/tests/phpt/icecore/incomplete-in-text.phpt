--TEST--
An object of __PHP_Incomplete_Class in the text is written back unchanged
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
$o = unserialize('O:22:"__PHP_Incomplete_Class":1:{s:1:"a";i:1;}');
echo get_class($o), "\n", serialize($o), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class
O:22:"__PHP_Incomplete_Class":1:{s:1:"a";i:1;}

--TEST--
A __PHP_Incomplete_Class_Name in the text becomes the class name when written
--FILE--
<?php
$o = unserialize('O:22:"__PHP_Incomplete_Class":2:{s:27:"__PHP_Incomplete_Class_Name";s:5:"Later";s:1:"a";i:1;}');
echo serialize($o), "\n";
?>
--EXPECT--
O:5:"Later":1:{s:1:"a";i:1;}

--TEST--
An incomplete object without a class name is written as __PHP_Incomplete_Class
--FILE--
<?php
echo serialize(new __PHP_Incomplete_Class), "\n";
?>
--EXPECT--
O:22:"__PHP_Incomplete_Class":0:{}

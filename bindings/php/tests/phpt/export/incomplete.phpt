--TEST--
An incomplete object is exported with its class name as a property
--FILE--
<?php
var_export(unserialize('O:4:"None":1:{s:1:"a";i:1;}'));
?>
--EXPECT--
\__PHP_Incomplete_Class::__set_state(array(
   '__PHP_Incomplete_Class_Name' => 'None',
   'a' => 1,
))

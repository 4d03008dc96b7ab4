--TEST--
Integer names of properties are exported as strings
--FILE--
<?php
var_export((object) ['5' => 1, 'x y' => 2]);
?>
--EXPECT--
(object) array(
   '5' => 1,
   'x y' => 2,
)

--TEST--
Objects of stdClass are exported as casts of arrays
--FILE--
<?php
var_export((object) ['a' => 1, 'b' => (object) []]);
?>
--EXPECT--
(object) array(
   'a' => 1,
   'b' => 
  (object) array(
  ),
)

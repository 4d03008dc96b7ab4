--TEST--
Objects in arrays in objects are indented as PHP does
--FILE--
<?php
var_export((object) ['list' => [(object) ['a' => [1]], []]]);
?>
--EXPECT--
(object) array(
   'list' => 
  array (
    0 => 
    (object) array(
       'a' => 
      array (
        0 => 1,
      ),
    ),
    1 => 
    array (
    ),
  ),
)

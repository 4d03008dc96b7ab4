--TEST--
Objects within arrays within objects
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

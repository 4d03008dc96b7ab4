--TEST--
Nested arrays are exported with all keys
--FILE--
<?php
var_export([1, 'k' => 'v', [true, [null]], -3 => 1.5]);
?>
--EXPECT--
array (
  0 => 1,
  'k' => 'v',
  1 => 
  array (
    0 => true,
    1 => 
    array (
      0 => NULL,
    ),
  ),
  -3 => 1.5,
)

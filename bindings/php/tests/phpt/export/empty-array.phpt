--TEST--
Empty arrays are exported in two lines
--FILE--
<?php
var_export([]);
echo "\n";
var_export([[], 'a' => []]);
?>
--EXPECT--
array (
)
array (
  0 => 
  array (
  ),
  'a' => 
  array (
  ),
)

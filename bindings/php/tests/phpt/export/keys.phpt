--TEST--
Array keys are exported with their type
--FILE--
<?php
var_export(["it's" => 1, '' => 2, '05' => 3, 5 => 4, PHP_INT_MIN => 5, 'a\\b' => 6]);
?>
--EXPECT--
array (
  'it\'s' => 1,
  '' => 2,
  '05' => 3,
  5 => 4,
  -9223372036854775808 => 5,
  'a\\b' => 6,
)

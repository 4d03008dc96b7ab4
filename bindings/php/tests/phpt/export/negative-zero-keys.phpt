--TEST--
Negative keys and minus zero keep their sign
--FILE--
<?php
var_export([-1 => -0.0, '-0' => 0, -PHP_INT_MAX => -1]);
?>
--EXPECT--
array (
  -1 => -0.0,
  '-0' => 0,
  -9223372036854775807 => -1,
)

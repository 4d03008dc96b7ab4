--TEST--
var_export uses serialize_precision
--INI--
serialize_precision=17
--FILE--
<?php
var_export([0.1, 1.0, 1/3]);
?>
--EXPECT--
array (
  0 => 0.10000000000000001,
  1 => 1.0,
  2 => 0.33333333333333331,
)

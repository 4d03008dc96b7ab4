--TEST--
Keys that were given as booleans or null are exported as converted
--FILE--
<?php
var_export([true => 'a', '1.5' => 'b', '' => 'c']);
?>
--EXPECT--
array (
  1 => 'a',
  '1.5' => 'b',
  '' => 'c',
)

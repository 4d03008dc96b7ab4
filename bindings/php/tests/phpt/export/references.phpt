--TEST--
References are exported as values
--FILE--
<?php
$x = 1;
var_export(['a' => &$x, 'b' => &$x]);
?>
--EXPECT--
array (
  'a' => 1,
  'b' => 1,
)

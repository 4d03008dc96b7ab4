--TEST--
A resource is exported as NULL
--FILE--
<?php
$file = fopen('php://memory', 'r');
var_export([$file]);
?>
--EXPECT--
array (
  0 => NULL,
)

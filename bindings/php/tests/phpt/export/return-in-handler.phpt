--TEST--
var_export works after an output handler has ended
--FILE--
<?php
ob_start(fn ($text) => strrev($text));
echo 'abc';
ob_end_flush();
echo "\n";
echo var_export(['x' => 1.0], true), "\n";
?>
--EXPECT--
cba
array (
  'x' => 1.0,
)

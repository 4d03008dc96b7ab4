--TEST--
A resource that two elements refer to is written as 0
--FILE--
<?php
$file = fopen('php://memory', 'r');
$value = [&$file, 'again' => &$file, 'other' => $file];
echo serialize($value), "\n";
var_export($value);
?>
--EXPECT--
a:3:{i:0;i:0;s:5:"again";R:2;s:5:"other";i:0;}
array (
  0 => NULL,
  'again' => NULL,
  'other' => NULL,
)

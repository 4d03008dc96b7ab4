--TEST--
A resource is NULL
--SKIPIF--
<?php
if (ini_get('icecore.replace')) die('xfail a resource is 0');
?>
--FILE--
<?php
$file = fopen('php://memory', 'r');
var_export([$file]);
?>
--EXPECT--
array (
  0 => NULL,
)

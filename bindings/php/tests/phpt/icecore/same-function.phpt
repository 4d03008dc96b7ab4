--TEST--
The global functions and those of the namespace write the same text
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
$value = [1.5, 'x', (object) ['a' => [null]]];
var_dump(serialize($value) === Icecore\serialize($value), var_export($value, true) === Icecore\var_export($value, true));
?>
--EXPECT--
bool(true)
bool(true)

--TEST--
Exported code evaluates to the same value
--FILE--
<?php
$value = ['a' => [1, 2.5, "q'uo\\te", null, true], 'b' => (object) ['c' => PHP_INT_MIN], 5 => -0.0];
eval('$back = ' . var_export($value, true) . ';');
var_dump(serialize($back) === serialize($value));
?>
--EXPECT--
bool(true)

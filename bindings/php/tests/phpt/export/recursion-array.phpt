--TEST--
An array that contains itself is exported with a warning and NULL
--FILE--
<?php
$a = [1];
$a['self'] = &$a;
var_export($a);
?>
--EXPECTF--
Warning: var_export does not handle circular references in %s on line %d
array (
  0 => 1,
  'self' => NULL,
)

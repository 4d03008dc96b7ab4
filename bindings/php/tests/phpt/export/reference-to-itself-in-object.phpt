--TEST--
An array in an object that contains itself is exported with a warning
--FILE--
<?php
$o = new stdClass;
$o->list = [1];
$o->list[] = &$o->list;
var_export($o);
?>
--EXPECTF--
Warning: var_export does not handle circular references in %s on line %d
(object) array(
   'list' => 
  array (
    0 => 1,
    1 => NULL,
  ),
)

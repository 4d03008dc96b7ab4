--TEST--
An object that contains itself is exported with a warning and NULL
--FILE--
<?php
$o = new stdClass;
$o->self = $o;
var_export($o);
?>
--EXPECTF--
Warning: var_export does not handle circular references in %s on line %d
(object) array(
   'self' => NULL,
)

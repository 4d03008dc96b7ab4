--TEST--
null as the data is deprecated
--FILE--
<?php
var_dump(unserialize(null));
?>
--EXPECTF--
Deprecated: unserialize(): Passing null to parameter #1 ($data) of type string is deprecated in %s on line %d
bool(false)

--TEST--
Many empty strings and empty arrays survive a round trip
--FILE--
<?php
$v = array_fill(0, 1000, '') + ['e' => array_fill(0, 100, [])];
var_dump(unserialize(serialize($v)) === $v);
?>
--EXPECT--
bool(true)

--TEST--
A serialized text in a property stays a string
--FILE--
<?php
$o = (object) ['inner' => serialize((object) ['x' => 1])];
$back = unserialize(serialize($o));
var_dump(unserialize($back->inner)->x);
?>
--EXPECT--
int(1)

--TEST--
A serialized text within an object is text
--FILE--
<?php
$o = (object) ['inner' => serialize((object) ['x' => 1])];
$back = unserialize(serialize($o));
var_dump(unserialize($back->inner)->x);
?>
--EXPECT--
int(1)

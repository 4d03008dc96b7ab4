--TEST--
Strings with all 256 bytes survive a round trip
--FILE--
<?php
$all = implode('', array_map('chr', range(0, 255)));
$s = serialize($all);
var_dump(strlen($s), unserialize($s) === $all, unserialize(serialize([$all => $all])) === [$all => $all]);
?>
--EXPECT--
int(265)
bool(true)
bool(true)

--TEST--
Arrays of a hundred thousand elements survive a round trip
--FILE--
<?php
$list = range(1, 100000);
$s = serialize($list);
var_dump(strlen($s), unserialize($s) === $list);
$map = array_flip(array_map(fn ($i) => "key $i", $list));
var_dump(unserialize(serialize($map)) === $map);
?>
--EXPECT--
int(1577796)
bool(true)
bool(true)

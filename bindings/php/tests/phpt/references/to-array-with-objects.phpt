--TEST--
A reference to an array that contains its own object survives a round trip
--FILE--
<?php
$o = new stdClass;
$o->list = [$o];
$a = [&$o->list, &$o->list, $o];
$v = unserialize(serialize($a));
var_dump($v[0][0] === $v[2]);
$v[1] = 'new';
var_dump($v[2]->list);
?>
--EXPECT--
bool(true)
string(3) "new"

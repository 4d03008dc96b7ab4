--TEST--
A DateInterval of a difference keeps its number of days
--FILE--
<?php
$i = (new DateTime('2020-01-01'))->diff(new DateTime('2021-03-04'));
$b = unserialize(serialize($i));
var_dump($b->days, $b->invert, $b->format('%R%a'));
?>
--EXPECT--
int(428)
int(0)
string(4) "+428"

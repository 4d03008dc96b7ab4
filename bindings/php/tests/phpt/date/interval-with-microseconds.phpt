--TEST--
A DateInterval keeps its microseconds
--FILE--
<?php
$a = new DateTimeImmutable('2020-01-01 00:00:00.25 UTC');
$b = new DateTimeImmutable('2020-01-01 00:00:01.75 UTC');
$i = unserialize(serialize($a->diff($b)));
var_dump($i->f, $i->s);
?>
--EXPECT--
float(0.5)
int(1)

--TEST--
A DateInterval from relative words still works after reading
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
$i = DateInterval::createFromDateString('next weekday');
$b = unserialize(serialize($i));
echo (new DateTimeImmutable('2020-01-03'))->add($b)->format('Y-m-d'), "\n";
?>
--EXPECT--
2020-01-06

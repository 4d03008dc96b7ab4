--TEST--
A Randomizer survives a round trip with its engine
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
$r = new Random\Randomizer(new Random\Engine\Mt19937(1));
$back = unserialize(serialize($r));
var_dump($r->getInt(1, 1000) === $back->getInt(1, 1000));
?>
--EXPECT--
bool(true)

--TEST--
An Mt19937 continues its sequence after reading
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
$engine = new Random\Engine\Mt19937(5);
$engine->generate();
$back = unserialize(serialize($engine));
var_dump($engine->generate() === $back->generate(), $engine->generate() === $back->generate());
?>
--EXPECT--
bool(true)
bool(true)

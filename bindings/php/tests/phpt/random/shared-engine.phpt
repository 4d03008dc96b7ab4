--TEST--
Two Randomizers with one engine share it after reading
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
$engine = new Random\Engine\Xoshiro256StarStar(1);
$v = unserialize(serialize([new Random\Randomizer($engine), new Random\Randomizer($engine)]));
var_dump($v[0]->engine === $v[1]->engine);
?>
--EXPECT--
bool(true)

--TEST--
A Xoshiro256StarStar continues its sequence after reading
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
$engine = new Random\Engine\Xoshiro256StarStar(5);
$engine->jumpLong();
echo $s = serialize($engine), "\n";
var_dump(unserialize($s)->generate() === $engine->generate());
?>
--EXPECT--
O:32:"Random\Engine\Xoshiro256StarStar":2:{i:0;a:0:{}i:1;a:4:{i:0;s:16:"99fdb07a245ef1f6";i:1;s:16:"7db58a6c3c27e973";i:2;s:16:"947ea66a4dc9b5b8";i:3;s:16:"043ff06a87816bfd";}}
bool(true)

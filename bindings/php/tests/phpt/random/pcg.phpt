--TEST--
A PcgOneseq128XslRr64 continues its sequence after reading
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
$engine = new Random\Engine\PcgOneseq128XslRr64(5);
$engine->jump(10);
echo $s = serialize($engine), "\n";
var_dump(unserialize($s)->generate() === $engine->generate());
?>
--EXPECT--
O:33:"Random\Engine\PcgOneseq128XslRr64":2:{i:0;a:0:{}i:1;a:2:{i:0;s:16:"b6eeb38131f7fb05";i:1;s:16:"3dd3074f7640d66e";}}
bool(true)

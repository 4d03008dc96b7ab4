--TEST--
A readonly class accepts no dynamic property
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
readonly class Pair
{
    public int $a;
}
try {
    var_dump(unserialize('O:4:"Pair":2:{s:1:"a";i:1;s:1:"b";i:2;}'));
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot create dynamic property Pair::$b

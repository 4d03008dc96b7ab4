--TEST--
A user-defined engine continues its sequence after reading
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
class Counting implements Random\Engine
{
    private int $n = 0;

    function generate(): string { return pack('P', ++$this->n); }
}
$r = new Random\Randomizer(new Counting);
$r->nextInt();
$back = unserialize(serialize($r));
var_dump($back->nextInt() === $r->nextInt());
?>
--EXPECT--
bool(true)

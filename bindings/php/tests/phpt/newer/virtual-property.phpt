--TEST--
A virtual property is not written
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80400) die('skip needs PHP 8.4');
?>
--FILE--
<?php
class Box
{
    public int $a = 2;
    public int $double {
        get => $this->a * 2;
    }
}
echo $s = serialize(new Box), "\n";
var_dump(unserialize($s)->double);
?>
--EXPECT--
O:3:"Box":1:{s:1:"a";i:2;}
int(4)

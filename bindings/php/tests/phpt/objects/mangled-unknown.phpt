--TEST--
A mangled private name that the class does not declare becomes a dynamic property
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs 8.2');
?>
--FILE--
<?php
class Known
{
    public $a = 1;
}
$o = unserialize("O:5:\"Known\":1:{s:8:\"\0Known\0b\";i:2;}");
echo strtr(serialize($o), "\0", '~'), "\n";
?>
--EXPECTF--
Deprecated: Creation of dynamic property Known::$b is deprecated in %s on line %d
O:5:"Known":2:{s:1:"a";i:1;s:8:"~Known~b";i:2;}

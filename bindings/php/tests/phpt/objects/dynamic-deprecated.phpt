--TEST--
Creating a dynamic property is deprecated if the class does not allow it
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
class Closed
{
    public $a;
}
$o = unserialize('O:6:"Closed":2:{s:1:"a";i:1;s:1:"b";i:2;}');
var_dump($o->b);
?>
--EXPECTF--
Deprecated: Creation of dynamic property Closed::$b is deprecated in %s on line %d
int(2)

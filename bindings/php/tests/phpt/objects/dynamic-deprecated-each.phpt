--TEST--
Each dynamic property is reported
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
class Closed
{
}
unserialize('a:2:{i:0;O:6:"Closed":2:{s:1:"a";i:1;s:1:"b";i:2;}i:1;O:6:"Closed":1:{s:1:"a";i:1;}}');
?>
--EXPECTF--
Deprecated: Creation of dynamic property Closed::$a is deprecated in %s on line %d

Deprecated: Creation of dynamic property Closed::$b is deprecated in %s on line %d

Deprecated: Creation of dynamic property Closed::$a is deprecated in %s on line %d

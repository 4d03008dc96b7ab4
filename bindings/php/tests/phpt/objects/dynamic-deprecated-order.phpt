--TEST--
The message for a dynamic property comes before that for its value
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
class Known
{
}
unserialize('O:5:"Known":1:{s:1:"a";i:99999999999999999999;}');
?>
--EXPECTF--
Deprecated: Creation of dynamic property Known::$a is deprecated in %s on line %d

Warning: unserialize(): Numerical result out of range in %s on line %d

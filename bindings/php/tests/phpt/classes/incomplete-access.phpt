--TEST--
Reading a property of an incomplete object warns
--FILE--
<?php
$o = unserialize('O:4:"None":1:{s:1:"a";i:1;}');
var_dump($o->a);
?>
--EXPECTF--
Warning: main(): The script tried to access a property on an incomplete object. Please ensure that the class definition "None" of the object you are trying to operate on was loaded _before_ unserialize() gets called or provide an autoloader to load the class definition in %s on line %d
NULL

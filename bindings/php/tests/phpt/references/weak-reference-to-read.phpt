--TEST--
A weak reference to an object that was read ends with the object
--FILE--
<?php
$v = unserialize('a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}');
$weak = WeakReference::create($v[0]);
unset($v[0]);
var_dump($weak->get() !== null);
unset($v[1]);
var_dump($weak->get());
?>
--EXPECT--
bool(true)
NULL

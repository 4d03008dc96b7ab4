--TEST--
r counts as a value for links, R does not
--FILE--
<?php
$v = unserialize('a:5:{i:0;O:8:"stdClass":0:{}i:1;r:2;i:2;s:1:"x";i:3;R:4;i:4;R:2;}');
var_dump($v[3] === 'x', $v[4] === $v[0]);
?>
--EXPECT--
bool(true)
bool(true)

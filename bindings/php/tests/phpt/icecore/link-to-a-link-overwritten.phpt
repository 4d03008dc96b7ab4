--TEST--
A link to a link whose target's key is repeated finds the later object
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
$v = unserialize('a:2:{i:0;O:8:"stdClass":3:{s:1:"a";O:8:"stdClass":0:{}s:1:"b";r:3;s:1:"a";O:8:"stdClass":0:{}}i:1;r:4;}');
var_dump($v[1] === $v[0]->b, $v[1] === $v[0]->a);
?>
--EXPECT--
bool(false)
bool(true)

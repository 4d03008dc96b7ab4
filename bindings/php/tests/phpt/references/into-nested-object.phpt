--TEST--
A link can refer to a property of a nested object
--FILE--
<?php
$v = unserialize('a:2:{i:0;O:8:"stdClass":1:{s:1:"a";O:8:"stdClass":1:{s:1:"b";i:5;}}i:1;R:4;}');
$v[1]++;
var_dump($v[0]->a->b);
?>
--EXPECT--
int(6)

--TEST--
A link can refer to a dynamic property of an exception
--FILE--
<?php
$v = @unserialize('a:2:{i:0;O:9:"Exception":2:{s:1:"a";i:1;s:1:"b";i:2;}i:1;R:3;}');
$v[1] = 'new';
var_dump(@$v[0]->a);
?>
--EXPECT--
string(3) "new"

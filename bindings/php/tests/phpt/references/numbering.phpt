--TEST--
Values are counted in the order of the text, keys are not
--FILE--
<?php
$v = unserialize('a:3:{s:1:"a";a:2:{i:0;s:1:"p";i:1;s:1:"q";}s:1:"b";R:3;s:1:"c";R:4;}');
var_dump($v['b'], $v['c']);
$v['b'] = 'new';
var_dump($v['a'][0]);
?>
--EXPECT--
string(1) "p"
string(1) "q"
string(3) "new"

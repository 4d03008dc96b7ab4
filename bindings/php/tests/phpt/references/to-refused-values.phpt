--TEST--
A link may refer to an object that became incomplete
--FILE--
<?php
$v = unserialize('a:3:{i:0;O:4:"None":1:{s:1:"a";i:1;}i:1;r:2;i:2;R:3;}');
var_dump($v[0] === $v[1], $v[2]);
echo serialize($v), "\n";
?>
--EXPECT--
bool(true)
int(1)
a:3:{i:0;O:4:"None":1:{s:1:"a";i:1;}i:1;r:2;i:2;R:3;}

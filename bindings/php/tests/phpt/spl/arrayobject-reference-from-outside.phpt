--TEST--
A variable in an ArrayObject and in an array stays one
--FILE--
<?php
$x = 1;
$v = [&$x, new ArrayObject([&$x])];
echo $s = serialize($v), "\n";
$b = unserialize($s);
$b[0] = 'new';
var_dump($b[1][0]);
?>
--EXPECT--
a:2:{i:0;i:1;i:1;O:11:"ArrayObject":4:{i:0;i:0;i:1;a:1:{i:0;R:2;}i:2;a:0:{}i:3;N;}}
string(3) "new"

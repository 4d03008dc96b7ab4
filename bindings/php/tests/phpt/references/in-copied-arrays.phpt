--TEST--
References in two copies of an array stay one variable
--FILE--
<?php
$x = 1;
$inner = [&$x];
$a = [$inner, $inner];
echo $s = serialize($a), "\n";
$b = unserialize($s);
$b[0][0] = 2;
var_dump($b[1][0]);
?>
--EXPECT--
a:2:{i:0;a:1:{i:0;i:1;}i:1;a:1:{i:0;R:3;}}
int(2)

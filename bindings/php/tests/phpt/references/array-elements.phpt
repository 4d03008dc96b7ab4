--TEST--
Two elements that are one variable stay one
--FILE--
<?php
$a = [1, 2];
$a[1] = &$a[0];
echo $s = serialize($a), "\n";
$b = unserialize($s);
$b[0] = 'changed';
var_dump($b[1]);
?>
--EXPECT--
a:2:{i:0;i:1;i:1;R:2;}
string(7) "changed"

--TEST--
Two arrays that contain each other by reference survive a round trip
--FILE--
<?php
$a = ['a'];
$b = ['b'];
$a[] = &$b;
$b[] = &$a;
echo $s = serialize([&$a, &$b]), "\n";
$v = unserialize($s);
var_dump($v[0][1][0], $v[1][1][0], $v[0][1][1][0]);
?>
--EXPECT--
a:2:{i:0;a:2:{i:0;s:1:"a";i:1;a:2:{i:0;s:1:"b";i:1;R:2;}}i:1;R:4;}
string(1) "b"
string(1) "a"
string(1) "a"

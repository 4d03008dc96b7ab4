--TEST--
The order of keys is kept
--FILE--
<?php
$value = ['z' => 1, 5 => 2, 'a' => 3, -1 => 4, 0 => 5];
echo $s = serialize($value), "\n";
var_dump(unserialize($s) === $value);
?>
--EXPECT--
a:5:{s:1:"z";i:1;i:5;i:2;s:1:"a";i:3;i:-1;i:4;i:0;i:5;}
bool(true)

--TEST--
A list with a hole keeps its keys
--FILE--
<?php
$list = [1, 2, 3, 4];
unset($list[1], $list[3]);
echo $s = serialize($list), "\n";
var_dump(unserialize($s) === $list);
?>
--EXPECT--
a:2:{i:0;i:1;i:2;i:3;}
bool(true)

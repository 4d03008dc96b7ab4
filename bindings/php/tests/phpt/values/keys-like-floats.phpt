--TEST--
Keys that look like floats stay strings
--FILE--
<?php
$value = ['1e5' => 1, '1.0' => 2, ' 1' => 3, '1 ' => 4, '' => 5, 'INF' => 6];
echo $s = serialize($value), "\n";
var_dump(unserialize($s) === $value);
?>
--EXPECT--
a:6:{s:3:"1e5";i:1;s:3:"1.0";i:2;s:2:" 1";i:3;s:2:"1 ";i:4;s:0:"";i:5;s:3:"INF";i:6;}
bool(true)

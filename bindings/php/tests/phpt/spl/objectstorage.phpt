--TEST--
An SplObjectStorage keeps its data
--FILE--
<?php
$a = new stdClass;
$storage = new SplObjectStorage;
$storage[$a] = 'data';
$storage[(object) ['x' => 1]] = null;
echo $s = serialize([$a, $storage]), "\n";
[$b, $back] = unserialize($s);
var_dump($back[$b], count($back));
?>
--EXPECT--
a:2:{i:0;O:8:"stdClass":0:{}i:1;O:16:"SplObjectStorage":2:{i:0;a:4:{i:0;r:2;i:1;s:4:"data";i:2;O:8:"stdClass":1:{s:1:"x";i:1;}i:3;N;}i:1;a:0:{}}}
string(4) "data"
int(2)

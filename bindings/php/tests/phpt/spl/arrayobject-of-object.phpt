--TEST--
An ArrayObject around an object shares it after reading
--FILE--
<?php
$in = (object) ['a' => 1];
$o = new ArrayObject($in);
echo $s = serialize([$o, $in]), "\n";
$v = unserialize($s);
$v[1]->a = 2;
var_dump($v[0]['a']);
?>
--EXPECT--
a:2:{i:0;O:11:"ArrayObject":4:{i:0;i:0;i:1;O:8:"stdClass":1:{s:1:"a";i:1;}i:2;a:0:{}i:3;N;}i:1;r:4;}
int(2)

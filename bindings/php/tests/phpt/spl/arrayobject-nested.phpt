--TEST--
ArrayObjects in an ArrayObject survive a round trip
--FILE--
<?php
$o = new ArrayObject([new ArrayObject([1]), 'x' => new ArrayObject(new ArrayObject(['deep']))]);
echo $s = serialize($o), "\n";
$b = unserialize($s);
var_dump($b[0][0], $b['x'][0]);
?>
--EXPECT--
O:11:"ArrayObject":4:{i:0;i:0;i:1;a:2:{i:0;O:11:"ArrayObject":4:{i:0;i:0;i:1;a:1:{i:0;i:1;}i:2;a:0:{}i:3;N;}s:1:"x";O:11:"ArrayObject":4:{i:0;i:0;i:1;O:11:"ArrayObject":4:{i:0;i:0;i:1;a:1:{i:0;s:4:"deep";}i:2;a:0:{}i:3;N;}i:2;a:0:{}i:3;N;}}i:2;a:0:{}i:3;N;}
int(1)
string(4) "deep"

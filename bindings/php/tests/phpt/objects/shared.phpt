--TEST--
An object that occurs twice is one object after reading
--FILE--
<?php
$o = new stdClass;
echo $s = serialize([$o, [$o], 'k' => $o]), "\n";
$back = unserialize($s);
var_dump($back[0] === $back[1][0], $back[0] === $back['k']);
?>
--EXPECT--
a:3:{i:0;O:8:"stdClass":0:{}i:1;a:1:{i:0;r:2;}s:1:"k";r:2;}
bool(true)
bool(true)

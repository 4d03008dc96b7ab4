--TEST--
An SplObjectStorage that contains itself survives a round trip
--FILE--
<?php
$storage = new SplObjectStorage;
$storage[$storage] = [$storage];
echo $s = serialize($storage), "\n";
$back = unserialize($s);
var_dump($back->contains($back), $back[$back][0] === $back);
?>
--EXPECT--
O:16:"SplObjectStorage":2:{i:0;a:2:{i:0;r:1;i:1;a:1:{i:0;r:1;}}i:1;a:0:{}}
bool(true)
bool(true)

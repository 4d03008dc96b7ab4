--TEST--
An SplFixedArray that contains itself survives a round trip
--FILE--
<?php
$o = new SplFixedArray(2);
$o[0] = $o;
echo $s = serialize($o), "\n";
$b = unserialize($s);
var_dump($b[0] === $b);
?>
--EXPECT--
O:13:"SplFixedArray":2:{i:0;r:1;i:1;N;}
bool(true)

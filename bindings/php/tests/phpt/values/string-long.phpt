--TEST--
A long string keeps its bytes
--FILE--
<?php
$long = str_repeat("0123456789\0", 100000);
$s = serialize(['k' => $long]);
var_dump(strlen($s), md5($s) === md5('a:1:{s:1:"k";s:1100000:"' . $long . '";}'), unserialize($s)['k'] === $long);
?>
--EXPECT--
int(1100027)
bool(true)
bool(true)

--TEST--
Properties with integer names survive a round trip
--FILE--
<?php
$o = (object) ['5' => 'five', 'x' => 1];
echo $s = serialize($o), "\n";
$back = unserialize($s);
var_dump($back->{'5'});
var_dump(unserialize('O:8:"stdClass":1:{i:7;s:5:"seven";}')->{'7'});
?>
--EXPECT--
O:8:"stdClass":2:{s:1:"5";s:4:"five";s:1:"x";i:1;}
string(4) "five"
string(5) "seven"

--TEST--
An array that contains itself by reference survives a round trip
--FILE--
<?php
$a = [1];
$a['self'] = &$a;
echo $s = serialize($a), "\n";
$b = unserialize($s);
var_dump($b['self']['self']['self'][0]);
?>
--EXPECT--
a:2:{i:0;i:1;s:4:"self";a:2:{i:0;i:1;s:4:"self";R:3;}}
int(1)

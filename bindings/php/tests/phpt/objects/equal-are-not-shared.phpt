--TEST--
Equal objects stay two objects
--FILE--
<?php
$s = serialize([new stdClass, new stdClass]);
echo $s, "\n";
[$a, $b] = unserialize($s);
var_dump($a === $b, $a == $b);
?>
--EXPECT--
a:2:{i:0;O:8:"stdClass":0:{}i:1;O:8:"stdClass":0:{}}
bool(false)
bool(true)

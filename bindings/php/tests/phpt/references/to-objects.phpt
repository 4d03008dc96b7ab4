--TEST--
R makes one variable, r makes one object
--FILE--
<?php
$o = new stdClass;
$a = [$o, $o];
$b = [$o];
$b[1] = &$b[0];
echo serialize($a), "\n", serialize($b), "\n";
$a = unserialize(serialize($a));
$b = unserialize(serialize($b));
$a[0] = $b[0] = 'other';
var_dump(is_object($a[1]), is_object($b[1]));
?>
--EXPECT--
a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}
a:2:{i:0;O:8:"stdClass":0:{}i:1;R:2;}
bool(true)
bool(false)

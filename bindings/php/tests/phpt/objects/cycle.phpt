--TEST--
Two objects that contain each other survive a round trip
--FILE--
<?php
$a = new stdClass;
$b = new stdClass;
$a->b = $b;
$b->a = $a;
echo $s = serialize([$a, $b]), "\n";
[$x, $y] = unserialize($s);
var_dump($x->b === $y, $y->a === $x);
?>
--EXPECT--
a:2:{i:0;O:8:"stdClass":1:{s:1:"b";O:8:"stdClass":1:{s:1:"a";r:2;}}i:1;r:3;}
bool(true)
bool(true)

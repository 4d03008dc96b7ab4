--TEST--
References to an array are kept
--FILE--
<?php
$inner = [1];
$a = ['x' => &$inner, 'y' => &$inner];
echo $s = serialize($a), "\n";
$b = unserialize($s);
$b['x'][] = 2;
var_dump(count($b['y']));
?>
--EXPECT--
a:2:{s:1:"x";a:1:{i:0;i:1;}s:1:"y";R:2;}
int(2)

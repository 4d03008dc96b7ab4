--TEST--
A property and an element that are one variable stay one
--FILE--
<?php
$o = new stdClass;
$o->p = 1;
$a = [$o, &$o->p];
echo $s = serialize($a), "\n";
$b = unserialize($s);
$b[1] = 'x';
var_dump($b[0]->p);
?>
--EXPECT--
a:2:{i:0;O:8:"stdClass":1:{s:1:"p";i:1;}i:1;R:3;}
string(1) "x"

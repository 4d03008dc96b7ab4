--TEST--
A case of an enum in two places of one variable
--FILE--
<?php
enum Level: int
{
    case Low = 1;
    case High = 2;
}
$x = Level::Low;
$a = [&$x, &$x];
echo $s = serialize($a), "\n";
$b = unserialize($s);
$b[0] = Level::High;
var_dump($b[1]);
?>
--EXPECT--
a:2:{i:0;E:9:"Level:Low";i:1;R:2;}
enum(Level::High)

--TEST--
Two elements that are one variable with an enum case stay one
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

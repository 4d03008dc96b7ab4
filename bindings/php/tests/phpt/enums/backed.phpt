--TEST--
The value of a backed case is not written
--FILE--
<?php
enum Level: int
{
    case Low = 1;
    case High = 10;
}
echo $s = serialize([Level::Low, Level::High]), "\n";
var_dump(unserialize($s) === [Level::Low, Level::High]);
?>
--EXPECT--
a:2:{i:0;E:9:"Level:Low";i:1;E:10:"Level:High";}
bool(true)

--TEST--
An enum case that occurs again is written as a link
--FILE--
<?php
enum Level: int
{
    case Low = 1;
}
echo $s = serialize([Level::Low, Level::Low, (object) ['l' => Level::Low]]), "\n";
var_dump(unserialize($s)[2]->l === Level::Low);
?>
--EXPECT--
a:3:{i:0;E:9:"Level:Low";i:1;r:2;i:2;O:8:"stdClass":1:{s:1:"l";r:2;}}
bool(true)

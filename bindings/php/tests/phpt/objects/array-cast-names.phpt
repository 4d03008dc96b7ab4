--TEST--
An object cast from an array keeps unusual names
--FILE--
<?php
$o = (object) ["a\0b" => 1, 'x y' => 2, '0' => 3];
echo strtr($s = serialize($o), "\0", '~'), "\n";
var_dump(unserialize($s) == $o);
?>
--EXPECT--
O:8:"stdClass":3:{s:3:"a~b";i:1;s:3:"x y";i:2;s:1:"0";i:3;}
bool(true)

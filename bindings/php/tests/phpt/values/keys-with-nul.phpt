--TEST--
Array keys may have NUL bytes
--FILE--
<?php
$value = ["\0" => 1, "\0*\0a" => 2, "a\0" => 3];
echo strtr($s = serialize($value), "\0", '~'), "\n";
var_dump(unserialize($s) === $value);
?>
--EXPECT--
a:3:{s:1:"~";i:1;s:4:"~*~a";i:2;s:2:"a~";i:3;}
bool(true)

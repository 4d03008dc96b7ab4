--TEST--
A class that is declared between two readings is used by the second
--FILE--
<?php
$text = 'O:5:"Later":1:{s:1:"a";i:1;}';
echo get_class(unserialize($text)), "\n";
eval('class Later { public int $a = 0; }');
echo get_class(unserialize($text)), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class
Later

--TEST--
The array $GLOBALS can be written
--FILE--
<?php
$a = 5;
$copy = ['a' => $GLOBALS['a']];
echo serialize($copy), "\n";
?>
--EXPECT--
a:1:{s:1:"a";i:5;}

--TEST--
Keys do not count as values for links
--FILE--
<?php
var_dump(unserialize('a:2:{s:1:"k";s:1:"v";s:1:"l";R:2;}')['l']);
?>
--EXPECT--
string(1) "v"

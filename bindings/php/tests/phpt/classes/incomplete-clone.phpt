--TEST--
A clone of an incomplete object keeps the name
--FILE--
<?php
$o = clone unserialize('O:4:"None":1:{s:1:"a";i:1;}');
echo serialize($o), "\n";
?>
--EXPECT--
O:4:"None":1:{s:1:"a";i:1;}

--TEST--
A property name of stdClass that begins with NUL is kept
--FILE--
<?php
$o = unserialize("O:8:\"stdClass\":1:{s:2:\"\0a\";i:1;}");
echo strtr(serialize($o), "\0", '~'), "\n";
?>
--EXPECT--
O:8:"stdClass":1:{s:2:"~a";i:1;}

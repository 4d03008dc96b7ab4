--TEST--
From PHP 8.3 on, text after the value is warned about
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80300) die('skip needs PHP 8.3');
?>
--FILE--
<?php
var_dump(unserialize('i:1;rest'));
?>
--EXPECTF--
Warning: unserialize(): Extra data starting at offset 4 of 8 bytes in %s on line %d
int(1)

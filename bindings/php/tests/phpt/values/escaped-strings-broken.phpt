--TEST--
An escape that is not a hexadecimal number is malformed
--SKIPIF--
<?php
if (PHP_VERSION_ID >= 80400) die('skip changed in PHP 8.4, which says it is deprecated');
?>
--FILE--
<?php
var_dump(unserialize('S:1:"\6g";'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 10 bytes in %s on line %d
bool(false)

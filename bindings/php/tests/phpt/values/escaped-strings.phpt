--TEST--
A string with S: has escapes of two hexadecimal digits
--SKIPIF--
<?php
if (PHP_VERSION_ID >= 80400) die('skip changed in PHP 8.4, which says it is deprecated');
?>
--FILE--
<?php
var_dump(unserialize('S:5:"a\62c\5c\00";') === "abc\\\0");
?>
--EXPECT--
bool(true)

--TEST--
An array in allowed_classes allows nothing
--SKIPIF--
<?php
if (PHP_VERSION_ID >= 80400) die('skip changed in PHP 8.4, which says that items must be names');
?>
--FILE--
<?php
var_dump(get_class(@unserialize('O:8:"stdClass":0:{}', ['allowed_classes' => [['stdClass']]])));
?>
--EXPECT--
string(22) "__PHP_Incomplete_Class"

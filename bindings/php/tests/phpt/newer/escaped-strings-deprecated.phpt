--TEST--
From PHP 8.4 on, strings with S: are deprecated
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80400) die('skip needs PHP 8.4');
?>
--FILE--
<?php
var_dump(unserialize('S:1:"\61";'));
?>
--EXPECTF--
Deprecated: unserialize(): Unserializing the 'S' format is deprecated in %s on line %d
string(1) "a"

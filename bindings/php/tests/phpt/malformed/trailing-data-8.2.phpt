--TEST--
Up to PHP 8.2, text after the value is ignored
--SKIPIF--
<?php
if (PHP_VERSION_ID >= 80300) die('skip changed in PHP 8.3');
?>
--FILE--
<?php
var_dump(unserialize('i:1;rest'), unserialize("b:1;\n"), unserialize('a:0:{}}'));
?>
--EXPECT--
int(1)
bool(true)
array(0) {
}

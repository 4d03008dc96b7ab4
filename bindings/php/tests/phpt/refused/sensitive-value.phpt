--TEST--
A SensitiveParameterValue is refused
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
try {
    serialize(new SensitiveParameterValue('secret'));
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'SensitiveParameterValue' is not allowed

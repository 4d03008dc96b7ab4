--TEST--
The secure engine is refused
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
try {
    serialize(new Random\Engine\Secure);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
try {
    unserialize('O:20:"Random\Engine\Secure":0:{}');
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'Random\Engine\Secure' is not allowed
Unserialization of 'Random\Engine\Secure' is not allowed

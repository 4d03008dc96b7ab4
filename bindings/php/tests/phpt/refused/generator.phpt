--TEST--
Generators are refused
--FILE--
<?php
try {
    serialize((function () { yield 1; })());
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
try {
    unserialize('O:9:"Generator":0:{}');
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'Generator' is not allowed
Unserialization of 'Generator' is not allowed

--TEST--
Reflection objects are refused
--FILE--
<?php
try {
    serialize(new ReflectionClass('stdClass'));
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'ReflectionClass' is not allowed

--TEST--
Fibers are refused
--FILE--
<?php
try {
    serialize(new Fiber(fn () => 1));
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'Fiber' is not allowed

--TEST--
A WeakMap and a WeakReference are refused
--FILE--
<?php
foreach ([new WeakMap, WeakReference::create(new stdClass)] as $o) {
    try {
        serialize($o);
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}
foreach (['WeakMap', 'WeakReference'] as $class) {
    try {
        unserialize('O:' . strlen($class) . ":\"$class\":0:{}");
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Serialization of 'WeakMap' is not allowed
Serialization of 'WeakReference' is not allowed
Unserialization of 'WeakMap' is not allowed
Unserialization of 'WeakReference' is not allowed

--TEST--
Objects of classes that can't be read are refused inside an array
--FILE--
<?php
foreach (['ReflectionMethod', 'Fiber', 'InternalIterator', 'SimpleXMLElement'] as $class) {
    if (!class_exists($class)) {
        continue;
    }
    try {
        unserialize('a:1:{i:0;O:' . strlen($class) . ":\"$class\":0:{}}");
        echo "$class\n";
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Exception: Unserialization of 'ReflectionMethod' is not allowed
Exception: Unserialization of 'Fiber' is not allowed
Exception: Unserialization of 'InternalIterator' is not allowed
Exception: Unserialization of 'SimpleXMLElement' is not allowed

--TEST--
An exception whose previous one is not an exception is refused
--FILE--
<?php
try {
    unserialize("O:9:\"Exception\":1:{s:19:\"\0Exception\0previous\";O:8:\"stdClass\":0:{}}");
    echo "read\n";
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot assign stdClass to property Exception::$previous of type ?Throwable

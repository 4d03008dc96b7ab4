--TEST--
File objects can't be read
--FILE--
<?php
foreach (['SplFileInfo', 'SplFileObject', 'DirectoryIterator', 'GlobIterator'] as $class) {
    try {
        unserialize('O:' . strlen($class) . ":\"$class\":0:{}");
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Unserialization of 'SplFileInfo' is not allowed
Unserialization of 'SplFileObject' is not allowed
Unserialization of 'DirectoryIterator' is not allowed
Unserialization of 'GlobIterator' is not allowed

--TEST--
File objects are refused
--FILE--
<?php
foreach ([new SplFileInfo('x'), new SplTempFileObject] as $o) {
    try {
        serialize([$o]);
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Serialization of 'SplFileInfo' is not allowed
Serialization of 'SplTempFileObject' is not allowed

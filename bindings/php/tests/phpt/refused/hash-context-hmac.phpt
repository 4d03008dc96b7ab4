--TEST--
A HashContext with a key is refused
--FILE--
<?php
try {
    serialize(hash_init('sha256', HASH_HMAC, 'key'));
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
HashContext with HASH_HMAC option cannot be serialized

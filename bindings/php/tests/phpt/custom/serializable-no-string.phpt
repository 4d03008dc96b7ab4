--TEST--
Serializable::serialize must return a string or null
--FILE--
<?php
class Wrong implements Serializable
{
    function serialize() { return 5; }
    function unserialize($text) { }
    function __unserialize(array $data): void { }
}
try {
    echo serialize([1, new Wrong]), "\n";
} catch (Exception $e) {
    echo get_class($e), ': ', $e->getMessage(), "\n";
}
?>
--EXPECTF--
Deprecated: Wrong implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
Exception: Wrong::serialize() must return a string or NULL

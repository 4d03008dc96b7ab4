--TEST--
An exception in Serializable::unserialize ends the reading
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return ''; }
    function unserialize($text) { throw new DomainException("bad $text"); }
    function __unserialize(array $data): void { }
}
try {
    unserialize('a:2:{i:0;C:4:"Text":1:{1}i:1;i:5;}');
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
Deprecated: Text implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
bad 1

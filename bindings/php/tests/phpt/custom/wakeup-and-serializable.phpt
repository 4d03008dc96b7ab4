--TEST--
__wakeup is not called for a C: object
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return 'x'; }
    function unserialize($text) { echo "text\n"; }
    function __wakeup() { echo "wakeup\n"; }
    function __sleep() { echo "sleep\n"; return []; }
    function __unserialize(array $data): void { }
}
echo $s = serialize(new Text), "\n";
unserialize($s);
?>
--EXPECTF--
Deprecated: Text implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
C:4:"Text":1:{x}
text

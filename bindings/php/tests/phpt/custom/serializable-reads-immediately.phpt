--TEST--
Serializable::unserialize is called where the payload is read, hooks are called later
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return ''; }
    function unserialize($text) { echo "text $text\n"; }
    function __unserialize(array $data): void { }
}
class Wakes
{
    function __wakeup() { echo "wakeup\n"; }
}
unserialize('a:3:{i:0;O:5:"Wakes":0:{}i:1;C:4:"Text":1:{1}i:2;C:4:"Text":1:{2}}');
?>
--EXPECTF--
Deprecated: Text implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
text 1
text 2
wakeup

--TEST--
Serializable::serialize that returns null is written as N
--FILE--
<?php
class Nothing implements Serializable
{
    function serialize() { return null; }
    function unserialize($text) { }
    function __unserialize(array $data): void { }
}
echo serialize([new Nothing, 1]), "\n";
?>
--EXPECTF--
Deprecated: Nothing implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
a:2:{i:0;N;i:1;i:1;}

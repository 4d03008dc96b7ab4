--TEST--
A C: object that occurs twice is one object
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return 'x'; }
    function unserialize($text) { }
    function __unserialize(array $data): void { }
}
$o = new Text;
echo $s = serialize([$o, $o, 5]), "\n";
[$a, $b] = unserialize($s);
var_dump($a === $b);
?>
--EXPECTF--
Deprecated: Text implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
a:3:{i:0;C:4:"Text":1:{x}i:1;r:2;i:2;i:5;}
bool(true)

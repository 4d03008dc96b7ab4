--TEST--
A payload may have any bytes
--FILE--
<?php
class Bytes implements Serializable
{
    public $text = "a}b\0\"c;";

    function serialize() { return $this->text; }
    function unserialize($text) { $this->text = $text; }
    function __unserialize(array $data): void { }
}
echo strtr($s = serialize(new Bytes), "\0", '~'), "\n";
var_dump(unserialize($s)->text === "a}b\0\"c;");
?>
--EXPECTF--
Deprecated: Bytes implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
C:5:"Bytes":7:{a}b~"c;}
bool(true)

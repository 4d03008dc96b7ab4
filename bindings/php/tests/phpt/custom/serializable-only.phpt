--TEST--
A class with Serializable only is deprecated and written as C:
--FILE--
<?php
class Only implements Serializable
{
    public $text = 'abc';

    function serialize() { return $this->text; }
    function unserialize($text) { $this->text = strtoupper($text); }
}
echo $s = serialize(new Only), "\n";
var_dump(unserialize($s)->text);
?>
--EXPECTF--
Deprecated: Only implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
C:4:"Only":3:{abc}
string(3) "ABC"

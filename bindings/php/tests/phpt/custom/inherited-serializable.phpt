--TEST--
Children of a Serializable class are written with its payload under their own name
--FILE--
<?php
class Base implements Serializable
{
    protected $v = 1;

    function serialize() { return json_encode($this->v); }
    function unserialize($text) { $this->v = json_decode($text); }
    function __unserialize(array $data): void { }
}
class Derived extends Base
{
    protected $v = [1, 2];
}
echo $s = serialize(new Derived), "\n";
var_dump(get_class(unserialize($s)), unserialize($s) == new Derived);
?>
--EXPECTF--
Deprecated: Base implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d

Deprecated: Derived implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
C:7:"Derived":5:{[1,2]}
string(7) "Derived"
bool(true)

--TEST--
serialize inside of Serializable::serialize continues the count of values
--FILE--
<?php
class Wraps implements Serializable
{
    public $in;

    function serialize() { return serialize($this->in); }
    function unserialize($text) { $this->in = unserialize($text); }
    function __unserialize(array $data): void { }
}
$shared = new stdClass;
$o = new Wraps;
$o->in = [$shared, 1];
echo $s = serialize([$shared, $o, $shared]), "\n";
$v = unserialize($s);
var_dump($v[0] === $v[1]->in[0], $v[0] === $v[2]);
?>
--EXPECTF--
Deprecated: Wraps implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d
a:3:{i:0;O:8:"stdClass":0:{}i:1;C:5:"Wraps":22:{a:2:{i:0;r:2;i:1;i:1;}}i:2;r:2;}
bool(true)
bool(true)

--TEST--
The count of values continues after a payload
--FILE--
<?php
class Text implements Serializable
{
    public $in;

    function serialize() { return serialize([1, 2]); }
    function unserialize($text) { $this->in = unserialize($text); }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
$v = unserialize('a:3:{i:0;C:4:"Text":22:{a:2:{i:0;i:1;i:1;i:2;}}i:1;O:8:"stdClass":0:{}i:2;r:6;}');
var_dump($v[1] === $v[2], $v[0]->in);
?>
--EXPECT--
bool(true)
array(2) {
  [0]=>
  int(1)
  [1]=>
  int(2)
}

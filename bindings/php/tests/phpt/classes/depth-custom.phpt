--TEST--
max_depth does not count levels in a payload of C:
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return 'x'; }
    function unserialize($text) { }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
var_dump(unserialize('a:1:{i:0;C:4:"Text":1:{x}}', ['max_depth' => 1]));
?>
--EXPECTF--
array(1) {
  [0]=>
  object(Text)#%d (0) {
  }
}

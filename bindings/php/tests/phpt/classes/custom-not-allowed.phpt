--TEST--
A C: object of a class that is not allowed becomes incomplete, with a warning
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return 'x'; }
    function unserialize($text) { echo "read\n"; }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
var_dump(unserialize('a:2:{i:0;C:4:"Text":1:{x}i:1;i:5;}', ['allowed_classes' => false]));
?>
--EXPECTF--
Warning: Class __PHP_Incomplete_Class has no unserializer in %s on line %d
array(2) {
  [0]=>
  object(__PHP_Incomplete_Class)#%d (1) {
    ["__PHP_Incomplete_Class_Name"]=>
    string(4) "Text"
  }
  [1]=>
  int(5)
}

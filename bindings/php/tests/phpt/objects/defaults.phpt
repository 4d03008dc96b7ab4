--TEST--
A property that the text lacks has its default
--FILE--
<?php
class Defaults
{
    public $a = 'default';
    public $b = [1];
    public ?int $c = 5;
}
var_dump(unserialize('O:8:"Defaults":1:{s:1:"b";i:2;}'));
?>
--EXPECTF--
object(Defaults)#%d (3) {
  ["a"]=>
  string(7) "default"
  ["b"]=>
  int(2)
  ["c"]=>
  int(5)
}

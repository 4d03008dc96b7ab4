--TEST--
Defaults that are expressions are evaluated when an object is read
--FILE--
<?php
class Defaults
{
    const A = 'const';
    public $a = self::A . '!';
    public $b = [PHP_INT_SIZE => self::A];
}
var_dump(unserialize('O:8:"Defaults":0:{}'));
?>
--EXPECTF--
object(Defaults)#%d (2) {
  ["a"]=>
  string(6) "const!"
  ["b"]=>
  array(1) {
    [8]=>
    string(5) "const"
  }
}

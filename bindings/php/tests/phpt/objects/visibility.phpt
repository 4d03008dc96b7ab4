--TEST--
The names of private and protected properties are mangled
--FILE--
<?php
class Visible
{
    public $a = 1;
    protected $b = 2;
    private $c = 3;
}
echo strtr($s = serialize(new Visible), "\0", '~'), "\n";
var_dump(unserialize($s));
?>
--EXPECTF--
O:7:"Visible":3:{s:1:"a";i:1;s:4:"~*~b";i:2;s:10:"~Visible~c";i:3;}
object(Visible)#%d (3) {
  ["a"]=>
  int(1)
  ["b":protected]=>
  int(2)
  ["c":"Visible":private]=>
  int(3)
}

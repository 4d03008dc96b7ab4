--TEST--
A readonly property may be repeated while another one shares its value
--FILE--
<?php
class Fixed
{
    public readonly ?int $i;
    public $j;
}
var_dump(unserialize('O:5:"Fixed":3:{s:1:"i";i:5;s:1:"j";R:2;s:1:"i";i:6;}'));
?>
--EXPECTF--
object(Fixed)#%d (2) {
  ["i"]=>
  int(6)
  ["j"]=>
  int(5)
}

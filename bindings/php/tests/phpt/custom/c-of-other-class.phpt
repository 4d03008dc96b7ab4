--TEST--
A C: object of a class without Serializable gets its defaults, with a warning
--FILE--
<?php
class Plain
{
    public $a = 1;
}
var_dump(unserialize('C:5:"Plain":1:{x}'));
?>
--EXPECTF--
Warning: Class Plain has no unserializer in %s on line %d
object(Plain)#%d (1) {
  ["a"]=>
  int(1)
}

--TEST--
Without __unserialize the array of __serialize becomes properties
--FILE--
<?php
#[AllowDynamicProperties]
class Half
{
    public $a = 1;

    function __serialize(): array { return ['a' => 2, 'b' => 3]; }
}
var_dump(unserialize(serialize(new Half)));
?>
--EXPECTF--
object(Half)#%d (2) {
  ["a"]=>
  int(2)
  ["b"]=>
  int(3)
}

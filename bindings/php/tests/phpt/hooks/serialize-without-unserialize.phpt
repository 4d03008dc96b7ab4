--TEST--
What __serialize gave becomes properties where __unserialize is missing
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

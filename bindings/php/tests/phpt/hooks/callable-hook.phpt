--TEST--
Making a closure of a hook does not change the writing
--FILE--
<?php
class Hooked
{
    public $a = 1;

    function __serialize(): array { return ['a' => $this->a + 1]; }
}
$call = (new Hooked)->__serialize(...);
var_dump($call());
echo serialize(new Hooked), "\n";
?>
--EXPECT--
array(1) {
  ["a"]=>
  int(2)
}
O:6:"Hooked":1:{s:1:"a";i:2;}

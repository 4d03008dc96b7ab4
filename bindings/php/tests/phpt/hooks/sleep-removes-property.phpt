--TEST--
__sleep may unset a property that it names
--FILE--
<?php
class Cleans
{
    public $a = 1;
    public $b = 2;

    function __sleep()
    {
        unset($this->b);
        return ['a', 'b'];
    }
}
echo serialize(new Cleans), "\n";
?>
--EXPECTF--
Warning: serialize(): "b" returned as member variable from __sleep() but does not exist in %s on line %d
O:6:"Cleans":1:{s:1:"a";i:1;}

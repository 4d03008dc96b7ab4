--TEST--
A name that __sleep returns for a missing property is warned about
--FILE--
<?php
class Missing
{
    public $a = 1;

    function __sleep() { return ['a', 'nothing', 'none']; }
}
echo serialize(new Missing), "\n";
?>
--EXPECTF--
Warning: serialize(): "nothing" returned as member variable from __sleep() but does not exist in %s on line %d

Warning: serialize(): "none" returned as member variable from __sleep() but does not exist in %s on line %d
O:7:"Missing":1:{s:1:"a";i:1;}

--TEST--
Class constants are not written
--FILE--
<?php
class WithConstant
{
    const A = 1;
    public $b = self::A;
}
echo serialize(new WithConstant), "\n";
?>
--EXPECT--
O:12:"WithConstant":1:{s:1:"b";i:1;}

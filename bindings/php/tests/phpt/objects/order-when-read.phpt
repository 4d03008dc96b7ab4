--TEST--
The order in the text does not change the order of declared properties
--FILE--
<?php
class Point
{
    public $x;
    public $y;
}
echo serialize(unserialize('O:5:"Point":2:{s:1:"y";i:2;s:1:"x";i:1;}')), "\n";
?>
--EXPECT--
O:5:"Point":2:{s:1:"x";i:1;s:1:"y";i:2;}

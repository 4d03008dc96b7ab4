--TEST--
__sleep may name dynamic properties
--FILE--
<?php
#[AllowDynamicProperties]
class Open
{
    function __sleep() { return ['extra', '7']; }
}
$o = new Open;
$o->extra = 1;
$o->{'7'} = 2;
echo serialize($o), "\n";
?>
--EXPECT--
O:4:"Open":2:{s:5:"extra";i:1;s:1:"7";i:2;}

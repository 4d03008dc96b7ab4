--TEST--
Static properties are neither written nor changed
--FILE--
<?php
class Counter
{
    static $count = 5;
    public $a = 1;
}
echo $s = serialize(new Counter), "\n";
Counter::$count = 9;
unserialize('O:7:"Counter":1:{s:5:"count";i:1;}');
var_dump(Counter::$count);
?>
--EXPECT--
O:7:"Counter":1:{s:1:"a";i:1;}
int(9)

--TEST--
If __sleep returns an empty array, no property is written
--FILE--
<?php
class Emptied
{
    public $a = 1;

    function __sleep() { return []; }
}
echo $s = serialize(new Emptied), "\n";
var_dump(unserialize($s)->a);
?>
--EXPECT--
O:7:"Emptied":0:{}
int(1)

--TEST--
serialize does not call magic methods for an unset typed property
--FILE--
<?php
class Magic
{
    public int $a = 1;

    function __get($name)
    {
        echo "get $name\n";
        return 5;
    }

    function __set($name, $value)
    {
        echo "set $name\n";
    }
}
$o = new Magic;
unset($o->a);
echo serialize($o), "\n";
$back = unserialize('O:5:"Magic":1:{s:1:"a";i:7;}');
var_dump($back->a);
?>
--EXPECT--
O:5:"Magic":0:{}
int(7)

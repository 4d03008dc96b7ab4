--TEST--
__call is not called for missing hooks
--FILE--
<?php
class Caller
{
    public $a = 1;

    function __call($name, $args)
    {
        echo "call $name\n";
        return [];
    }

    static function __callStatic($name, $args)
    {
        echo "static $name\n";
    }
}
echo serialize(unserialize(serialize(new Caller))), "\n";
?>
--EXPECT--
O:6:"Caller":1:{s:1:"a";i:1;}

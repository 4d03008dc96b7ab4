--TEST--
__sleep may leave out a property with a refused object
--FILE--
<?php
class Service
{
    public $name = 'n';
    public $callback;

    function __construct() { $this->callback = fn () => 1; }
    function __sleep() { return ['name']; }
}
echo serialize(new Service), "\n";
?>
--EXPECT--
O:7:"Service":1:{s:4:"name";s:1:"n";}

--TEST--
__sleep may return mangled names
--FILE--
<?php
class Chosen
{
    protected $b = 2;
    private $c = 3;

    function __sleep() { return ["\0*\0b", "\0Chosen\0c"]; }
}
echo strtr(serialize(new Chosen), "\0", '~'), "\n";
?>
--EXPECT--
O:6:"Chosen":2:{s:4:"~*~b";i:2;s:9:"~Chosen~c";i:3;}

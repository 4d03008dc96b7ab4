--TEST--
__serialize with an array cast writes mangled names
--FILE--
<?php
class Cast
{
    public $a = 1;
    protected $b = 2;
    private $c = 3;

    function __serialize(): array { return (array) $this; }
}
echo strtr($s = serialize(new Cast), "\0", '~'), "\n";
var_dump(unserialize($s) == new Cast);
?>
--EXPECT--
O:4:"Cast":3:{s:1:"a";i:1;s:4:"~*~b";i:2;s:7:"~Cast~c";i:3;}
bool(true)

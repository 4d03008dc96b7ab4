--TEST--
A child of SplObjectStorage keeps its own properties
--FILE--
<?php
class Registry extends SplObjectStorage
{
    protected $name = 'r';
}
$o = new Registry;
$o[new stdClass] = 1;
echo strtr($s = serialize($o), "\0", '~'), "\n";
var_dump(serialize(unserialize($s)) === $s);
?>
--EXPECT--
O:8:"Registry":2:{i:0;a:2:{i:0;O:8:"stdClass":0:{}i:1;i:1;}i:1;a:1:{s:7:"~*~name";s:1:"r";}}
bool(true)

--TEST--
A child of ArrayObject keeps its own properties
--FILE--
<?php
class Collection extends ArrayObject
{
    public $name = 'n';
    private $secret = 's';
}
$o = new Collection([1, 2]);
echo strtr($s = serialize($o), "\0", '~'), "\n";
var_dump(unserialize($s) == $o, count(unserialize($s)));
?>
--EXPECT--
O:10:"Collection":4:{i:0;i:0;i:1;a:2:{i:0;i:1;i:1;i:2;}i:2;a:2:{s:4:"name";s:1:"n";s:18:"~Collection~secret";s:1:"s";}i:3;N;}
bool(true)
int(2)

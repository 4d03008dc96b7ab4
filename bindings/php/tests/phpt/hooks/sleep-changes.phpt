--TEST--
__sleep may change the object before it is written
--FILE--
<?php
class Cache
{
    public $data = 'long';
    public $made = false;

    function __sleep()
    {
        $this->data = 'short';
        $this->made = true;
        return ['data', 'made'];
    }
}
$o = new Cache;
echo serialize($o), "\n";
var_dump($o->data);
?>
--EXPECT--
O:5:"Cache":2:{s:4:"data";s:5:"short";s:4:"made";b:1;}
string(5) "short"

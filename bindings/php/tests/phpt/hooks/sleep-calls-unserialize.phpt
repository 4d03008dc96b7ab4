--TEST--
__sleep may read
--FILE--
<?php
class Mixes
{
    public $a = 1;
    public $copy;

    function __sleep()
    {
        $this->copy = unserialize('a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}');
        return ['a', 'copy'];
    }
}
$o = new Mixes;
echo serialize([$o, $o]), "\n";
?>
--EXPECT--
a:2:{i:0;O:5:"Mixes":2:{s:1:"a";i:1;s:4:"copy";a:2:{i:0;O:8:"stdClass":0:{}i:1;r:5;}}i:1;r:2;}

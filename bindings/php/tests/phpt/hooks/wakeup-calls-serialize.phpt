--TEST--
__wakeup may write
--FILE--
<?php
class Mixes
{
    public $list;
    public $text;

    function __wakeup() { $this->text = serialize([$this->list, $this->list]); }
}
$v = unserialize('a:2:{i:0;O:5:"Mixes":1:{s:4:"list";O:8:"stdClass":0:{}}i:1;r:3;}');
echo $v[0]->text, "\n";
?>
--EXPECT--
a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}

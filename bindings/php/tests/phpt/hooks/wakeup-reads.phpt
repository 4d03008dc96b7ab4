--TEST--
unserialize within __wakeup has links of its own
--FILE--
<?php
class Reads
{
    public $text;
    public $value;

    function __wakeup() { $this->value = unserialize($this->text); }
}
$o = new Reads;
$o->text = 'a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}';
$v = unserialize(serialize([$o, $o]));
var_dump($v[0] === $v[1], $v[0]->value[0] === $v[0]->value[1]);
?>
--EXPECT--
bool(true)
bool(true)

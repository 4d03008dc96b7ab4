--TEST--
serialize inside __sleep starts its own count of values
--FILE--
<?php
class Writes
{
    public $a;
    public $text;

    function __sleep()
    {
        $this->text = serialize([$this->a, $this->a]);
        return ['a', 'text'];
    }
}
$o = new Writes;
$o->a = new stdClass;
echo serialize([$o, $o->a]), "\n";
?>
--EXPECT--
a:2:{i:0;O:6:"Writes":2:{s:1:"a";O:8:"stdClass":0:{}s:4:"text";s:37:"a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}";}i:1;r:3;}

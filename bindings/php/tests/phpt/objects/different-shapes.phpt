--TEST--
Objects of one class may have different sets of properties
--FILE--
<?php
#[AllowDynamicProperties]
class Loose
{
    public $a;
    public int $b;
}
$list = [];
for ($i = 0; $i < 8; $i++) {
    $o = new Loose;
    $i & 1 and $o->b = $i;
    $i & 2 and $o->{"x$i"} = $i;
    if ($i & 4) {
        unset($o->a);
    }
    $list[] = $o;
}
echo $s = serialize($list), "\n";
echo serialize(unserialize($s)), "\n";
?>
--EXPECT--
a:8:{i:0;O:5:"Loose":1:{s:1:"a";N;}i:1;O:5:"Loose":2:{s:1:"a";N;s:1:"b";i:1;}i:2;O:5:"Loose":2:{s:1:"a";N;s:2:"x2";i:2;}i:3;O:5:"Loose":3:{s:1:"a";N;s:1:"b";i:3;s:2:"x3";i:3;}i:4;O:5:"Loose":0:{}i:5;O:5:"Loose":1:{s:1:"b";i:5;}i:6;O:5:"Loose":1:{s:2:"x6";i:6;}i:7;O:5:"Loose":2:{s:1:"b";i:7;s:2:"x7";i:7;}}
a:8:{i:0;O:5:"Loose":1:{s:1:"a";N;}i:1;O:5:"Loose":2:{s:1:"a";N;s:1:"b";i:1;}i:2;O:5:"Loose":2:{s:1:"a";N;s:2:"x2";i:2;}i:3;O:5:"Loose":3:{s:1:"a";N;s:1:"b";i:3;s:2:"x3";i:3;}i:4;O:5:"Loose":1:{s:1:"a";N;}i:5;O:5:"Loose":2:{s:1:"a";N;s:1:"b";i:5;}i:6;O:5:"Loose":2:{s:1:"a";N;s:2:"x6";i:6;}i:7;O:5:"Loose":3:{s:1:"a";N;s:1:"b";i:7;s:2:"x7";i:7;}}

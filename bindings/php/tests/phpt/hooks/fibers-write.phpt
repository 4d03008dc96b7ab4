--TEST--
Writings in two fibers do not share their links
--FILE--
<?php
class Waits
{
    function __serialize(): array { Fiber::suspend(); return ['x' => 1]; }
}
$o = new stdClass;
$a = new Fiber(fn () => serialize([$o, new Waits, $o]));
$b = new Fiber(fn () => serialize(['b', $o, new Waits, $o]));
$a->start();
$b->start();
echo serialize([$o, $o]), "\n";
$a->resume();
$b->resume();
echo $a->getReturn(), "\n", $b->getReturn(), "\n";
?>
--EXPECT--
a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}
a:3:{i:0;O:8:"stdClass":0:{}i:1;O:5:"Waits":1:{s:1:"x";i:1;}i:2;r:2;}
a:4:{i:0;s:1:"b";i:1;O:8:"stdClass":0:{}i:2;O:5:"Waits":1:{s:1:"x";i:1;}i:3;r:3;}

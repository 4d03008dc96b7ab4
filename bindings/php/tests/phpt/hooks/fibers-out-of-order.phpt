--TEST--
Readings in five fibers may end in any order
--FILE--
<?php
class Waits
{
    public $n;

    function __wakeup() { $this->n = Fiber::suspend(); }
}
$fibers = [];
for ($i = 0; $i < 5; $i++) {
    $fibers[$i] = new Fiber(fn () => unserialize('a:2:{i:0;O:5:"Waits":1:{s:1:"n";i:1;}i:1;R:3;}'));
    $fibers[$i]->start();
}
foreach ([3, 0, 4, 1, 2] as $i) {
    $fibers[$i]->resume($i);
    echo $fibers[$i]->getReturn()[1];
}
echo "\n";
?>
--EXPECT--
30412

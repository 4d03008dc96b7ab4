--TEST--
A hook may suspend a fiber
--FILE--
<?php
class Waits
{
    public $n = 0;

    function __wakeup() { $this->n = Fiber::suspend('waiting'); }
}
$fiber = new Fiber(fn () => unserialize('a:2:{i:0;O:5:"Waits":0:{}i:1;O:5:"Waits":0:{}}'));
echo $fiber->start(), "\n";
var_dump(unserialize('i:3;'));
echo $fiber->resume(10), "\n";
$fiber->resume(20);
[$a, $b] = $fiber->getReturn();
var_dump($a->n, $b->n);
?>
--EXPECT--
waiting
int(3)
waiting
int(10)
int(20)

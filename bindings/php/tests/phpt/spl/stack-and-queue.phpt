--TEST--
An SplStack and an SplQueue survive a round trip
--FILE--
<?php
$stack = new SplStack;
$queue = new SplQueue;
foreach ([1, 2] as $n) {
    $stack->push($n);
    $queue->enqueue($n);
}
echo $s = serialize([$stack, $queue]), "\n";
[$a, $b] = unserialize($s);
var_dump($a->pop(), $b->dequeue());
?>
--EXPECT--
a:2:{i:0;O:8:"SplStack":3:{i:0;i:6;i:1;a:2:{i:0;i:1;i:1;i:2;}i:2;a:0:{}}i:1;O:8:"SplQueue":3:{i:0;i:4;i:1;a:2:{i:0;i:1;i:1;i:2;}i:2;a:0:{}}}
int(2)
int(1)

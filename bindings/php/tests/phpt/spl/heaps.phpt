--TEST--
Heaps and priority queues are written without their elements
--SKIPIF--
<?php
if (PHP_VERSION_ID >= 80300) die('skip later versions may differ');
?>
--FILE--
<?php
foreach ([new SplMinHeap, new SplMaxHeap, new SplPriorityQueue] as $o) {
    try {
        echo serialize($o), "\n";
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
O:10:"SplMinHeap":0:{}
O:10:"SplMaxHeap":0:{}
O:16:"SplPriorityQueue":0:{}

--TEST--
__wakeup and __unserialize are called in one common order
--FILE--
<?php
class Wakes
{
    public $n;

    function __wakeup() { echo "wakeup $this->n\n"; }
}
class Takes
{
    function __unserialize(array $data): void { echo "unserialize {$data['n']}\n"; }
}
unserialize('a:4:{i:0;O:5:"Wakes":1:{s:1:"n";i:1;}i:1;O:5:"Takes":1:{s:1:"n";i:2;}i:2;O:5:"Wakes":1:{s:1:"n";i:3;}i:3;O:5:"Takes":1:{s:1:"n";i:4;}}');
?>
--EXPECT--
wakeup 1
unserialize 2
wakeup 3
unserialize 4

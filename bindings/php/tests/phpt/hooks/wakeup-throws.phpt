--TEST--
After an exception in __wakeup no other hook runs, and no destructor of an object with a pending hook
--FILE--
<?php
class Node
{
    public $n;

    function __wakeup()
    {
        echo "wakeup $this->n\n";
        $this->n === 2 and throw new DomainException("from $this->n");
    }

    function __destruct()
    {
        echo "destroyed $this->n\n";
    }
}
try {
    unserialize('a:3:{i:0;O:4:"Node":1:{s:1:"n";i:1;}i:1;O:4:"Node":1:{s:1:"n";i:2;}i:2;O:4:"Node":1:{s:1:"n";i:3;}}');
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
wakeup 1
wakeup 2
destroyed 1
from 2

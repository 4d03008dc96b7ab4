--TEST--
After an exception in __unserialize no other hook runs
--FILE--
<?php
class Takes
{
    function __unserialize(array $data): void
    {
        echo "takes {$data['n']}\n";
        $data['n'] === 2 and throw new DomainException("from {$data['n']}");
    }

    function __destruct()
    {
        echo "destroyed\n";
    }
}
try {
    unserialize('a:3:{i:0;O:5:"Takes":1:{s:1:"n";i:1;}i:1;O:5:"Takes":1:{s:1:"n";i:2;}i:2;O:5:"Takes":1:{s:1:"n";i:3;}}');
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
takes 1
takes 2
destroyed
from 2

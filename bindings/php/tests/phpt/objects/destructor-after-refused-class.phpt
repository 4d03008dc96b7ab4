--TEST--
Objects that precede a class that PHP refuses are destroyed
--FILE--
<?php
class Noisy
{
    function __destruct() { echo "noisy\n"; }
}
class Takes
{
    function __unserialize(array $data): void { echo "never\n"; }
    function __destruct() { echo "never\n"; }
}
try {
    unserialize('a:2:{i:0;O:5:"Noisy":0:{}i:1;O:5:"Takes":2:{s:1:"a";O:5:"Noisy":0:{}s:1:"b";O:7:"Closure":0:{}}}');
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
noisy
noisy
Unserialization of 'Closure' is not allowed

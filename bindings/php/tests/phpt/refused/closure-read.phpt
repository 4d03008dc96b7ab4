--TEST--
A closure can't be read
--FILE--
<?php
try {
    unserialize('O:7:"Closure":0:{}');
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Unserialization of 'Closure' is not allowed

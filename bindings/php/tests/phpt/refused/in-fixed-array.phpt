--TEST--
A closure in an SplFixedArray or an ArrayObject is refused
--FILE--
<?php
foreach ([SplFixedArray::fromArray([fn () => 1]), new ArrayObject([fn () => 1])] as $o) {
    try {
        serialize($o);
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Serialization of 'Closure' is not allowed
Serialization of 'Closure' is not allowed

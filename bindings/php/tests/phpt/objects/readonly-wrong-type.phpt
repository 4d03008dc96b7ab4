--TEST--
Types of readonly properties are checked
--FILE--
<?php
class Money
{
    public readonly int $amount;
}
try {
    unserialize('O:5:"Money":1:{s:6:"amount";s:1:"x";}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot assign string to property Money::$amount of type int

--TEST--
__wakeup cannot change a readonly property that was read
--FILE--
<?php
class Money
{
    public readonly int $amount;

    function __wakeup() { $this->amount = 6; }
}
try {
    unserialize('O:5:"Money":1:{s:6:"amount";i:5;}');
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
var_dump(unserialize('O:5:"Money":0:{}')->amount);
?>
--EXPECT--
Cannot modify readonly property Money::$amount
int(6)

--TEST--
A readonly property that the text lacks can be set once by the class
--FILE--
<?php
class Money
{
    public readonly int $amount;

    function set($amount) { $this->amount = $amount; }
}
$o = unserialize('O:5:"Money":0:{}');
$o->set(5);
var_dump($o->amount);
try {
    $o->set(6);
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
int(5)
Cannot modify readonly property Money::$amount

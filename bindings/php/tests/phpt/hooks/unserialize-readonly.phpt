--TEST--
__unserialize may set readonly properties
--FILE--
<?php
class Money
{
    function __construct(public readonly int $amount)
    {
    }

    function __serialize(): array { return [$this->amount]; }
    function __unserialize(array $data): void { $this->amount = $data[0]; }
}
$o = unserialize(serialize(new Money(5)));
var_dump($o->amount);
try {
    $o->__unserialize([6]);
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
int(5)
Cannot modify readonly property Money::$amount

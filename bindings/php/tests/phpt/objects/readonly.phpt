--TEST--
Readonly properties are read, and are readonly afterwards
--FILE--
<?php
class Money
{
    function __construct(public readonly int $amount, protected readonly array $tags = [])
    {
    }
}
echo strtr($s = serialize(new Money(5, ['x'])), "\0", '~'), "\n";
$o = unserialize($s);
var_dump($o == new Money(5, ['x']));
try {
    $o->amount = 6;
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
O:5:"Money":2:{s:6:"amount";i:5;s:7:"~*~tags";a:1:{i:0;s:1:"x";}}
bool(true)
Cannot modify readonly property Money::$amount

--TEST--
A clone of an object that was read keeps its readonly properties
--FILE--
<?php
class Money
{
    public function __construct(public readonly int $amount, public $note = '')
    {
    }
}
$o = unserialize(serialize(new Money(5)));
$c = clone $o;
$c->note = 'x';
var_dump($c->amount, $o->note);
?>
--EXPECT--
int(5)
string(0) ""

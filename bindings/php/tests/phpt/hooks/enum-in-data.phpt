--TEST--
Data of __serialize may have enum cases
--FILE--
<?php
enum Unit: string
{
    case Metre = 'm';
}
class Length
{
    function __construct(public float $n, public Unit $unit)
    {
    }

    function __serialize(): array { return [$this->n, $this->unit]; }
    function __unserialize(array $data): void { [$this->n, $this->unit] = $data; }
}
echo $s = serialize(new Length(1.5, Unit::Metre)), "\n";
var_dump(unserialize($s)->unit === Unit::Metre);
?>
--EXPECT--
O:6:"Length":2:{i:0;d:1.5;i:1;E:10:"Unit:Metre";}
bool(true)

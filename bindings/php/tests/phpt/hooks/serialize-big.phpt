--TEST--
__serialize may return ten thousand items
--FILE--
<?php
class Big
{
    public $n = 0;

    function __serialize(): array { return range(1, 10000); }
    function __unserialize(array $data): void { $this->n = array_sum($data); }
}
var_dump(unserialize(serialize(new Big))->n);
?>
--EXPECT--
int(50005000)

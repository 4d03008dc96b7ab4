--TEST--
Two objects with __unserialize may contain each other
--FILE--
<?php
class Peer
{
    public $name;
    public $peer;

    function __serialize(): array { return [$this->name, $this->peer]; }
    function __unserialize(array $data): void
    {
        [$this->name, $this->peer] = $data;
        echo "$this->name, the other is ", $this->peer->name ?? 'not ready', "\n";
    }
}
[$a, $b] = [new Peer, new Peer];
[$a->name, $a->peer, $b->name, $b->peer] = ['a', $b, 'b', $a];
$v = unserialize(serialize($a));
var_dump($v->peer->peer === $v);
?>
--EXPECT--
b, the other is not ready
a, the other is b
bool(true)

--TEST--
A child of ArrayObject may extend the hooks of its parent
--FILE--
<?php
class Collection extends ArrayObject
{
    public $extra = 1;

    function __serialize(): array { return ['p' => parent::__serialize(), 'x' => $this->extra]; }
    function __unserialize($data): void
    {
        parent::__unserialize($data['p']);
        $this->extra = $data['x'] + 1;
    }
}
$o = new Collection(['a' => 1]);
echo $s = serialize($o), "\n";
$b = unserialize($s);
var_dump($b['a'], $b->extra);
?>
--EXPECT--
O:10:"Collection":2:{s:1:"p";a:4:{i:0;i:0;i:1;a:1:{s:1:"a";i:1;}i:2;a:1:{s:5:"extra";i:1;}i:3;N;}s:1:"x";i:1;}
int(1)
int(2)

--TEST--
A hook may call the hook of its parent
--FILE--
<?php
class Base
{
    private $a = 1;

    function __serialize(): array { return ['a' => $this->a]; }
    function __unserialize(array $data): void { $this->a = $data['a']; }
}
class Derived extends Base
{
    private $b = 2;

    function __serialize(): array { return ['base' => parent::__serialize(), 'b' => $this->b]; }
    function __unserialize(array $data): void
    {
        parent::__unserialize($data['base']);
        $this->b = $data['b'];
    }
}
echo $s = serialize(new Derived), "\n";
var_dump(unserialize($s) == new Derived);
?>
--EXPECT--
O:7:"Derived":2:{s:4:"base";a:1:{s:1:"a";i:1;}s:1:"b";i:2;}
bool(true)

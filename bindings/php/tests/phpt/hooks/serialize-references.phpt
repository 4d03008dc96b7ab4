--TEST--
References in the array of __serialize are written
--FILE--
<?php
class Linked
{
    public $a = 1;

    function __serialize(): array { return ['x' => &$this->a, 'y' => &$this->a]; }
    function __unserialize(array $data): void
    {
        $data['x'] = 'new';
        var_dump($data['y']);
    }
}
echo $s = serialize(new Linked), "\n";
unserialize($s);
?>
--EXPECT--
O:6:"Linked":2:{s:1:"x";i:1;s:1:"y";R:2;}
string(3) "new"

--TEST--
__unserialize receives the array that __serialize returned
--FILE--
<?php
class Point
{
    function __construct(private int $x, private int $y)
    {
    }

    function __serialize(): array { return ['x' => $this->x, 'y' => $this->y]; }
    function __unserialize(array $data): void { [$this->x, $this->y] = [$data['x'], $data['y']]; }
}
echo $s = serialize(new Point(1, 2)), "\n";
var_dump(unserialize($s) == new Point(1, 2));
?>
--EXPECT--
O:5:"Point":2:{s:1:"x";i:1;s:1:"y";i:2;}
bool(true)

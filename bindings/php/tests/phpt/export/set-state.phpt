--TEST--
__set_state rebuilds the exported object
--FILE--
<?php
class Point
{
    function __construct(private int $x = 0)
    {
    }

    static function __set_state($data) { return new self($data['x'] + 1); }
    function x() { return $this->x; }
}
eval('$back = ' . var_export(new Point(4), true) . ';');
var_dump($back->x());
?>
--EXPECT--
int(5)

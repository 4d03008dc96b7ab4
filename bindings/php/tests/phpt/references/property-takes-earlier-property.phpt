--TEST--
Properties of two objects that are one variable stay one
--FILE--
<?php
class Node
{
    public $a;
    protected $b;

    function setB(&$b) { $this->b = &$b; }
    function b() { return $this->b; }
}
[$x, $y] = [new Node, new Node];
$x->a = 'shared';
$y->setB($x->a);
$v = unserialize(serialize([$x, $y]));
$v[0]->a = 'new';
var_dump($v[1]->b());
?>
--EXPECT--
string(3) "new"

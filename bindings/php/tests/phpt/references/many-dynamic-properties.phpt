--TEST--
A link can refer to a dynamic property of an object whose declared ones __sleep left out
--FILE--
<?php
#[AllowDynamicProperties]
class Row
{
    public $a = 1;
    protected $b = 2;
    private $c = 3;

    function __sleep() { return array_map(fn ($i) => "p$i", range(0, 7)); }
}
$o = new Row;
for ($i = 0; $i < 8; $i++) {
    $o->{"p$i"} = $i;
}
$v = unserialize(serialize([$o, &$o->p0]));
$v[1] = 'new';
var_dump($v[0]->p0);
?>
--EXPECT--
string(3) "new"

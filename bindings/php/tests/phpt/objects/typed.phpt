--TEST--
Typed properties accept values of their type
--FILE--
<?php
class Typed
{
    public int $i = 0;
    public ?string $s = null;
    public array $a = [];
    public float $f = 0.0;
    public bool $b = false;
    public iterable $it = [];
    public int|string $u = 0;
    public mixed $m = null;
    public ?self $o = null;
}
$o = new Typed;
$o->o = new Typed;
echo $s = serialize($o), "\n";
var_dump(unserialize($s) == $o);
?>
--EXPECT--
O:5:"Typed":9:{s:1:"i";i:0;s:1:"s";N;s:1:"a";a:0:{}s:1:"f";d:0;s:1:"b";b:0;s:2:"it";a:0:{}s:1:"u";i:0;s:1:"m";N;s:1:"o";O:5:"Typed":9:{s:1:"i";i:0;s:1:"s";N;s:1:"a";a:0:{}s:1:"f";d:0;s:1:"b";b:0;s:2:"it";a:0:{}s:1:"u";i:0;s:1:"m";N;s:1:"o";N;}}
bool(true)

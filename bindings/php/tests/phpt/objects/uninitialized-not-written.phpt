--TEST--
A typed property without a value is not written
--FILE--
<?php
class Late
{
    public int $a;
    public ?int $b;
    public $c;
}
$o = new Late;
echo serialize($o), "\n";
$o->b = null;
echo serialize($o), "\n";
?>
--EXPECT--
O:4:"Late":1:{s:1:"c";N;}
O:4:"Late":2:{s:1:"b";N;s:1:"c";N;}

--TEST--
Two properties that are one variable stay one
--FILE--
<?php
class Two
{
    public $a = 1;
    private $b;

    function __construct() { $this->b = &$this->a; }
    function b() { return $this->b; }
}
echo strtr($s = serialize(new Two), "\0", '~'), "\n";
$o = unserialize($s);
$o->a = 'new';
var_dump($o->b());
?>
--EXPECT--
O:3:"Two":2:{s:1:"a";i:1;s:6:"~Two~b";R:2;}
string(3) "new"

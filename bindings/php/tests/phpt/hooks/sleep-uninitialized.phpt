--TEST--
A typed property without a value that __sleep names is left out
--FILE--
<?php
class Typed
{
    public int $a;
    public $b = 1;

    function __sleep() { return ['b', 'a']; }
}
echo serialize(new Typed), "\n";
?>
--EXPECT--
O:5:"Typed":1:{s:1:"b";i:1;}

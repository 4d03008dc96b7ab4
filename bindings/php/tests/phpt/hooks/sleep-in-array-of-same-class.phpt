--TEST--
__sleep is called for each object of a class
--FILE--
<?php
class Varies
{
    public $a = 1;
    public $b = 2;

    function __construct(private $names)
    {
    }

    function __sleep() { return $this->names; }
}
echo serialize([new Varies(['a']), new Varies(['b', 'a']), new Varies([])]), "\n";
?>
--EXPECT--
a:3:{i:0;O:6:"Varies":1:{s:1:"a";i:1;}i:1;O:6:"Varies":2:{s:1:"b";i:2;s:1:"a";i:1;}i:2;O:6:"Varies":0:{}}

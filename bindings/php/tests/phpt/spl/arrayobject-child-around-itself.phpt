--TEST--
An ArrayObject around itself survives a round trip
--FILE--
<?php
class Own extends ArrayObject
{
    public $p = 1;

    function __construct() { parent::__construct($this); }
}
echo $s = serialize(new Own), "\n";
$b = unserialize($s);
var_dump($b['p'], count($b));
?>
--EXPECT--
O:3:"Own":4:{i:0;i:16777216;i:1;N;i:2;a:1:{s:1:"p";i:1;}i:3;N;}
int(1)
int(1)

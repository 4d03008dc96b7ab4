--TEST--
An object that a hook releases stays alive if a link refers to it
--FILE--
<?php
class Holder
{
    public $in;

    function __wakeup() { $this->in = null; }
}
class Part
{
    function __destruct() { echo "destroyed\n"; }
}
$v = unserialize('a:2:{i:0;O:6:"Holder":1:{s:2:"in";O:4:"Part":0:{}}i:1;r:3;}');
echo "read\n";
var_dump($v[0]->in, get_class($v[1]));
unset($v);
echo "end\n";
?>
--EXPECT--
read
NULL
string(4) "Part"
destroyed
end

--TEST--
A link may refer to an object in the data of __unserialize
--FILE--
<?php
class Takes
{
    public $in;

    function __unserialize(array $data): void { $this->in = $data['in']; }
}
$v = unserialize('a:2:{i:0;O:5:"Takes":1:{s:2:"in";O:8:"stdClass":0:{}}i:1;r:3;}');
var_dump($v[0]->in === $v[1]);
?>
--EXPECT--
bool(true)

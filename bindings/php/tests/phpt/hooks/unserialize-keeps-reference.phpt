--TEST--
__unserialize may keep a reference in its data
--FILE--
<?php
class Keeps
{
    public $kept;

    function __unserialize(array $data): void { $this->kept = &$data['x']; }
}
$v = unserialize('a:2:{i:0;O:5:"Keeps":1:{s:1:"x";i:1;}i:1;R:3;}');
$v[1] = 'new';
var_dump($v[0]->kept);
?>
--EXPECT--
string(3) "new"

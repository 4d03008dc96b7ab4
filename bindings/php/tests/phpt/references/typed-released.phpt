--TEST--
The type of a shared property ends with its object
--FILE--
<?php
class Typed
{
    public int $i = 1;
}
$v = unserialize('a:2:{i:0;O:5:"Typed":1:{s:1:"i";i:3;}i:1;R:3;}');
unset($v[0]);
$v[1] = 'text';
var_dump($v[1]);
?>
--EXPECT--
string(4) "text"

--TEST--
Repeated properties no longer share a variable
--FILE--
<?php
class Typed
{
    public ?int $i = 1;
    public $j = 2;
}
$v = unserialize('O:5:"Typed":4:{s:1:"i";i:5;s:1:"j";R:2;s:1:"i";N;s:1:"j";i:4;}');
$v->j = 'text';
var_dump($v);
?>
--EXPECTF--
object(Typed)#%d (2) {
  ["i"]=>
  NULL
  ["j"]=>
  string(4) "text"
}

--TEST--
A link can refer to the later value of a repeated typed property
--FILE--
<?php
class Typed
{
    public int $i = 0;
}
$v = unserialize('a:2:{i:0;O:5:"Typed":2:{s:1:"i";i:1;s:1:"i";i:2;}i:1;i:5;}');
var_dump($v[0]->i);
try {
    var_dump(unserialize('a:2:{i:0;O:5:"Typed":2:{s:1:"i";i:1;s:1:"i";i:2;}i:1;R:4;}'));
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
int(2)
array(2) {
  [0]=>
  object(Typed)#%d (1) {
    ["i"]=>
    &int(2)
  }
  [1]=>
  &int(2)
}

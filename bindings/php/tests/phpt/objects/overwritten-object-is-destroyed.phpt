--TEST--
An object whose key is repeated is destroyed after the reading
--FILE--
<?php
class Noisy
{
    public $name;

    function __destruct()
    {
        echo "destroyed $this->name\n";
    }
}
$v = unserialize('a:2:{i:0;O:5:"Noisy":1:{s:4:"name";s:1:"a";}i:0;i:5;}');
var_dump($v);
?>
--EXPECT--
destroyed a
array(1) {
  [0]=>
  int(5)
}

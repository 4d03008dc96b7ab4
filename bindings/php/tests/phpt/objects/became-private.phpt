--TEST--
A value of a public property goes to the property that is private now
--FILE--
<?php
class Changed
{
    private $a = 'default';
    protected $b = 'default';

    function values() { return [$this->a, $this->b]; }
}
$o = unserialize('O:7:"Changed":2:{s:1:"a";i:1;s:1:"b";i:2;}');
var_dump($o->values());
echo strtr(serialize($o), "\0", '~'), "\n";
?>
--EXPECT--
array(2) {
  [0]=>
  int(1)
  [1]=>
  int(2)
}
O:7:"Changed":2:{s:10:"~Changed~a";i:1;s:4:"~*~b";i:2;}

--TEST--
An SplFixedArray keeps its size
--FILE--
<?php
$o = new SplFixedArray(3);
$o[0] = 'a';
echo $s = serialize($o), "\n";
$b = unserialize($s);
var_dump($b->getSize(), $b->toArray());
?>
--EXPECT--
O:13:"SplFixedArray":3:{i:0;s:1:"a";i:1;N;i:2;N;}
int(3)
array(3) {
  [0]=>
  string(1) "a"
  [1]=>
  NULL
  [2]=>
  NULL
}

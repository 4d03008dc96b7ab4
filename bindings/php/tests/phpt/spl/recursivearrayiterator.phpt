--TEST--
A RecursiveArrayIterator survives a round trip
--FILE--
<?php
$o = new RecursiveArrayIterator([[1, 2], 3]);
echo $s = serialize($o), "\n";
var_dump(iterator_to_array(new RecursiveIteratorIterator(unserialize($s)), false));
?>
--EXPECT--
O:22:"RecursiveArrayIterator":4:{i:0;i:0;i:1;a:2:{i:0;a:2:{i:0;i:1;i:1;i:2;}i:1;i:3;}i:2;a:0:{}i:3;N;}
array(3) {
  [0]=>
  int(1)
  [1]=>
  int(2)
  [2]=>
  int(3)
}

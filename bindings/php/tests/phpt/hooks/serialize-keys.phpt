--TEST--
The array of __serialize may have any keys
--FILE--
<?php
class Any
{
    function __serialize(): array { return [5 => 'a', 'k' => 'b', -1 => 'c', '' => 'd']; }
    function __unserialize(array $data): void { var_dump($data); }
}
echo $s = serialize(new Any), "\n";
unserialize($s);
?>
--EXPECT--
O:3:"Any":4:{i:5;s:1:"a";s:1:"k";s:1:"b";i:-1;s:1:"c";s:0:"";s:1:"d";}
array(4) {
  [5]=>
  string(1) "a"
  ["k"]=>
  string(1) "b"
  [-1]=>
  string(1) "c"
  [""]=>
  string(1) "d"
}

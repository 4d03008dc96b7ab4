--TEST--
An object of stdClass survives a round trip
--FILE--
<?php
echo $s = serialize((object) ['a' => 1, 'b' => [2], 'c' => null]), "\n";
var_dump(unserialize($s));
?>
--EXPECTF--
O:8:"stdClass":3:{s:1:"a";i:1;s:1:"b";a:1:{i:0;i:2;}s:1:"c";N;}
object(stdClass)#%d (3) {
  ["a"]=>
  int(1)
  ["b"]=>
  array(1) {
    [0]=>
    int(2)
  }
  ["c"]=>
  NULL
}

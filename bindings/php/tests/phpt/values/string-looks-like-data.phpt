--TEST--
A string may contain text that looks like serialized data
--FILE--
<?php
$inner = serialize(['a' => ['b' => 's:1:"x";']]);
$s = serialize([$inner]);
echo $s, "\n";
var_dump(unserialize(unserialize($s)[0]));
?>
--EXPECT--
a:1:{i:0;s:43:"a:1:{s:1:"a";a:1:{s:1:"b";s:8:"s:1:"x";";}}";}
array(1) {
  ["a"]=>
  array(1) {
    ["b"]=>
    string(8) "s:1:"x";"
  }
}

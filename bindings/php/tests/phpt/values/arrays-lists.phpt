--TEST--
Lists have integer keys from 0
--FILE--
<?php
echo $s = serialize(['a', true, null, 1.5, [1, [2]]]), "\n";
var_dump(unserialize($s) === ['a', true, null, 1.5, [1, [2]]]);
?>
--EXPECT--
a:5:{i:0;s:1:"a";i:1;b:1;i:2;N;i:3;d:1.5;i:4;a:2:{i:0;i:1;i:1;a:1:{i:0;i:2;}}}
bool(true)

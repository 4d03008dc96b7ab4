--TEST--
Both functions can be taken as closures
--FILE--
<?php
$s = serialize(...);
$u = unserialize(...);
echo $s(['a']), "\n";
var_dump($u('i:4;'));
?>
--EXPECT--
a:1:{i:0;s:1:"a";}
int(4)

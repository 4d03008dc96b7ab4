--TEST--
An empty array that was read can be changed
--FILE--
<?php
$a = unserialize('a:0:{}');
$b = unserialize('a:0:{}');
$a['k'] = 1;
var_dump(count($a), count($b));
?>
--EXPECT--
int(1)
int(0)

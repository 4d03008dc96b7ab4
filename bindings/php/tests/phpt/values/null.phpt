--TEST--
null is written as N
--FILE--
<?php
echo serialize(null), "\n";
var_dump(unserialize('N;'));
?>
--EXPECT--
N;
NULL

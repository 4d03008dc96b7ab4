--TEST--
null is N
--FILE--
<?php
echo serialize(null), "\n";
var_dump(unserialize('N;'));
?>
--EXPECT--
N;
NULL

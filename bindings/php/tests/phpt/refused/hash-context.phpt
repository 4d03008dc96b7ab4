--TEST--
A HashContext keeps its state
--FILE--
<?php
$c = hash_init('sha256');
hash_update($c, 'abc');
$back = unserialize(serialize($c));
var_dump(hash_final($back) === hash('sha256', 'abc'));
?>
--EXPECT--
bool(true)

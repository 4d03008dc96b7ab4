--TEST--
An ErrorException keeps its severity
--FILE--
<?php
$b = unserialize(serialize(new ErrorException('m', 1, E_WARNING, 'file', 7)));
var_dump($b->getSeverity(), $b->getFile(), $b->getLine());
?>
--EXPECT--
int(2)
string(4) "file"
int(7)

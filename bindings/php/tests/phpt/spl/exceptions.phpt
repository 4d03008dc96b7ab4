--TEST--
An exception keeps its message, code and previous one
--FILE--
<?php
$e = new LogicException('outer', 5, new RuntimeException('inner'));
$b = unserialize(serialize($e));
var_dump(get_class($b), $b->getMessage(), $b->getCode(), $b->getPrevious()->getMessage(), $b->getLine() === $e->getLine());
?>
--EXPECT--
string(14) "LogicException"
string(5) "outer"
int(5)
string(5) "inner"
bool(true)

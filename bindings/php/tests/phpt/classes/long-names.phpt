--TEST--
A class with a long name
--FILE--
<?php
$name = 'A' . str_repeat('b', 500);
eval("class $name { public \$a = 1; private \$p = 2; }");
$o = new $name;
var_dump(unserialize(serialize($o)) == $o);
?>
--EXPECT--
bool(true)

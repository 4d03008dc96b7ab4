--TEST--
A class may have a name of 500 letters
--FILE--
<?php
$name = 'A' . str_repeat('b', 500);
eval("class $name { public \$a = 1; private \$p = 2; }");
$o = new $name;
var_dump(unserialize(serialize($o)) == $o);
?>
--EXPECT--
bool(true)

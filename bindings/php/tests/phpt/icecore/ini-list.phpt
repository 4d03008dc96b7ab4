--TEST--
icecore.classes restricts the global function
--INI--
icecore.classes=Known
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
class Known
{
}
class Other
{
}
var_dump(get_class(unserialize('O:5:"Known":0:{}')));
try {
    unserialize('O:5:"Other":0:{}');
} catch (Icecore\ClassException $e) {
    echo implode(', ', array_keys($e->classes)), "\n";
}
?>
--EXPECT--
string(5) "Known"
Other

--TEST--
The option classes takes patterns in the global function too
--SKIPIF--
<?php
die(ini_get('icecore.replace') ? 'xfail the list is not asked' : 'skip icecore.replace=1 only');
?>
--FILE--
<?php
class App_One
{
}
var_dump(get_class(unserialize('O:7:"App_One":0:{}', ['classes' => ['App_*']])));
try {
    echo get_class(unserialize('O:8:"stdClass":0:{}', ['classes' => ['App_*']])), " is built\n";
} catch (Icecore\ClassException $e) {
    echo implode(', ', array_keys($e->classes)), "\n";
}
?>
--EXPECT--
string(7) "App_One"
stdClass

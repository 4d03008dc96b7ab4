--TEST--
The global function accepts patterns in the option classes
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
class App_One
{
}
class Other
{
}
var_dump(get_class(unserialize('O:7:"App_One":0:{}', ['classes' => ['App_*']])));
try {
    echo get_class(unserialize('O:5:"Other":0:{}', ['classes' => ['App_*']])), " is built\n";
} catch (Icecore\ClassException $e) {
    echo implode(', ', array_keys($e->classes)), "\n";
}
?>
--EXPECT--
string(7) "App_One"
Other

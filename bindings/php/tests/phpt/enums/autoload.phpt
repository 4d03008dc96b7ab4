--TEST--
An enum is loaded when it is read
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
    eval('enum Loaded { case One; }');
});
var_dump(unserialize('E:10:"Loaded:One";'));
?>
--EXPECT--
load Loaded
enum(Loaded::One)

--TEST--
A class is loaded when it is read
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
    eval('class Loaded { public $a; }');
});
var_dump(unserialize('O:6:"Loaded":1:{s:1:"a";i:1;}')->a);
?>
--EXPECT--
load Loaded
int(1)

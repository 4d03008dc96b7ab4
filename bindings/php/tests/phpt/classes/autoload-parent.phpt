--TEST--
Loading a class loads its parent
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
    eval($name === 'Derived' ? 'class Derived extends Base {}' : "class $name {}");
});
echo get_class(unserialize('O:7:"Derived":0:{}')), "\n";
?>
--EXPECT--
load Derived
load Base
Derived

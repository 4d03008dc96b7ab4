--TEST--
Several autoloaders are called in the order of their registration
--FILE--
<?php
spl_autoload_register(function ($name) { echo "first $name\n"; });
spl_autoload_register(function ($name) { echo "second $name\n"; eval("class $name {}"); });
spl_autoload_register(function ($name) { echo "third $name\n"; });
unserialize('O:6:"Loaded":0:{}');
?>
--EXPECT--
first Loaded
second Loaded

--TEST--
An autoloader gets the class name as it is in the text
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
});
unserialize('O:9:"App\MiXed":0:{}');
?>
--EXPECT--
load App\MiXed

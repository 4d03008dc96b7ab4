--TEST--
An object stays incomplete if the autoloader declares another class
--FILE--
<?php
spl_autoload_register(function ($name) {
    eval('class Different {}');
});
echo get_class(unserialize('O:6:"Wanted":0:{}')), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class

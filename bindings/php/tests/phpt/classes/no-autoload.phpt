--TEST--
No autoloader is called for a class that is not allowed
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
});
echo get_class(unserialize('O:4:"None":0:{}', ['allowed_classes' => ['Other']])), "\n";
echo get_class(unserialize('O:4:"None":0:{}')), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class
load None
__PHP_Incomplete_Class

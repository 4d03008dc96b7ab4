--TEST--
unserialize_callback_func is not called for a class that is not allowed
--FILE--
<?php
function load($name)
{
    echo "called for $name\n";
}
ini_set('unserialize_callback_func', 'load');
echo get_class(unserialize('O:4:"None":0:{}', ['allowed_classes' => ['Other']])), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class

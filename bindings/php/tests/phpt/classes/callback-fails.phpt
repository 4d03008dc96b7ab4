--TEST--
If unserialize_callback_func does not declare the class, a warning follows and the object is incomplete
--FILE--
<?php
function load($name)
{
    echo "called for $name\n";
}
ini_set('unserialize_callback_func', 'load');
echo get_class(unserialize('O:4:"None":0:{}')), "\n";
?>
--EXPECTF--
called for None

Warning: unserialize(): Function load() hasn't defined the class it was called for in %s on line %d
__PHP_Incomplete_Class

--TEST--
unserialize_callback_func may be a static method
--FILE--
<?php
class Loader
{
    static function load($name)
    {
        echo "called for $name\n";
        eval("class $name {}");
    }
}
ini_set('unserialize_callback_func', 'Loader::load');
echo get_class(unserialize('O:6:"Loaded":0:{}')), "\n";
?>
--EXPECT--
called for Loaded
Loaded

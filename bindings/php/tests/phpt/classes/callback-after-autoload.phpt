--TEST--
The autoloader is called before unserialize_callback_func
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "autoload $name\n";
});
function load($name)
{
    echo "callback $name\n";
    eval("class $name {}");
}
ini_set('unserialize_callback_func', 'load');
echo get_class(unserialize('O:6:"Loaded":0:{}')), "\n";
?>
--EXPECT--
autoload Loaded
callback Loaded
Loaded

--TEST--
unserialize_callback_func is called for a missing class
--FILE--
<?php
function load($name)
{
    echo "called for $name\n";
    eval("class $name { public \$a; }");
}
ini_set('unserialize_callback_func', 'load');
echo get_class(unserialize('O:6:"Loaded":1:{s:1:"a";i:1;}')), "\n";
?>
--EXPECT--
called for Loaded
Loaded

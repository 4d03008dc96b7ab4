--TEST--
unserialize_callback_func is not called for an enum
--FILE--
<?php
function load($name)
{
    echo "called for $name\n";
}
ini_set('unserialize_callback_func', 'load');
var_dump(unserialize('E:8:"None:One";'));
?>
--EXPECTF--
Warning: unserialize(): Class 'None' not found in %s on line %d

%s: unserialize(): Error at offset 0 of 15 bytes in %s on line %d
bool(false)

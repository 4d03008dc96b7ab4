--TEST--
A missing enum is refused after its autoloader was called
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
});
var_dump(unserialize('E:8:"None:One";'));
?>
--EXPECTF--
load None

Warning: unserialize(): Class 'None' not found in %s on line %d

%s: unserialize(): Error at offset 0 of 15 bytes in %s on line %d
bool(false)

--TEST--
Changing an incomplete object throws an exception
--FILE--
<?php
$o = unserialize('O:4:"None":1:{s:1:"a";i:1;}');
try {
    $o->a = 2;
} catch (Error $e) {
    echo strtok($e->getMessage(), '.'), "\n";
}
?>
--EXPECT--
The script tried to modify a property on an incomplete object

--TEST--
An incomplete object has the name of its class as a property
--FILE--
<?php
$o = unserialize('O:4:"None":1:{s:1:"a";i:1;}');
foreach ((array) $o as $name => $value) {
    echo "$name: $value\n";
}
var_dump($o instanceof __PHP_Incomplete_Class, is_object($o));
?>
--EXPECT--
__PHP_Incomplete_Class_Name: None
a: 1
bool(true)
bool(true)

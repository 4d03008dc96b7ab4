--TEST--
Reading does not call __set, __get, __isset and __call
--FILE--
<?php
#[AllowDynamicProperties]
class Magic
{
    private $hidden = 1;

    function __set($name, $value) { echo "set $name\n"; }
    function __get($name) { echo "get $name\n"; }
    function __isset($name) { echo "isset $name\n"; }
    function __call($name, $args) { echo "call $name\n"; }
}
$o = unserialize('O:5:"Magic":2:{s:6:"hidden";i:2;s:5:"other";i:3;}');
var_dump((array) $o === ["\0Magic\0hidden" => 2, 'other' => 3]);
?>
--EXPECT--
bool(true)

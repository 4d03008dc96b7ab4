--TEST--
An autoloader may read other data
--FILE--
<?php
spl_autoload_register(function ($name) {
    var_dump(unserialize('a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}')[1] instanceof stdClass);
    eval("class $name {}");
});
$v = unserialize('a:2:{i:0;O:6:"Loaded":0:{}i:1;r:2;}');
var_dump($v[0] === $v[1]);
?>
--EXPECT--
bool(true)
bool(true)

--TEST--
An autoloader is called once for a text
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
});
unserialize('a:3:{i:0;O:4:"None":0:{}i:1;O:4:"None":0:{}i:2;O:5:"Other":0:{}}');
?>
--EXPECT--
load None
load Other

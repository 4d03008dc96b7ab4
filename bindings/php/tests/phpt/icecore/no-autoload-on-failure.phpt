--TEST--
No autoloader is called if the text is malformed further on
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
});
var_dump(unserialize('a:2:{i:0;O:4:"None":0:{}i:1;x}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 28 of 30 bytes in %s on line %d
bool(false)

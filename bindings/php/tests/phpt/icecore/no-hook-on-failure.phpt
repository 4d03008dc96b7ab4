--TEST--
No hook and no destructor runs if the text is malformed further on
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
class Hooked
{
    function __wakeup() { echo "wakeup\n"; }
    function __destruct() { echo "destroyed\n"; }
}
class Takes
{
    function __unserialize(array $data): void { echo "unserialize\n"; }
}
var_dump(unserialize('a:3:{i:0;O:6:"Hooked":0:{}i:1;O:5:"Takes":0:{}i:2;x}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 50 of 52 bytes in %s on line %d
bool(false)

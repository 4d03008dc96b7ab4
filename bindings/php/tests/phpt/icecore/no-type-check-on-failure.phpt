--TEST--
A wrong type before a malformed place does not throw
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
class Typed
{
    public int $i = 0;
}
var_dump(unserialize('a:2:{i:0;O:5:"Typed":1:{s:1:"i";s:1:"x";}i:1;x}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 45 of 47 bytes in %s on line %d
bool(false)

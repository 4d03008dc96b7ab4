--TEST--
A case without a name is malformed before its enum is looked up
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
enum Suit
{
    case Hearts;
}
var_dump(unserialize('E:5:"Suit:";'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 0 of 12 bytes in %s on line %d
bool(false)

--TEST--
Serializable::unserialize is not called if the text is malformed further on
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return ''; }
    function unserialize($text) { echo "text\n"; }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
var_dump(unserialize('a:2:{i:0;C:4:"Text":1:{1}i:1;x}'));
?>
--EXPECTF--
%s: unserialize(): Error at offset 29 of 31 bytes in %s on line %d
bool(false)

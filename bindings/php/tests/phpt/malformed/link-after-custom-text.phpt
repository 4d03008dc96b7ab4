--TEST--
A link to a missing value after a C: payload and an integer out of range is malformed
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return 'x'; }
    function unserialize($text) { }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
var_dump(unserialize('a:3:{i:0;i:99999999999999999999;i:1;C:4:"Text":1:{x}i:2;r:99;}'));
?>
--EXPECTF--
Warning: unserialize(): Numerical result out of range in %s on line %d

%s: unserialize(): Error at offset 61 of 62 bytes in %s on line %d
bool(false)

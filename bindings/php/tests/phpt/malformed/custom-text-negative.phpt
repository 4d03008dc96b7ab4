--TEST--
A negative length of a C: payload is malformed
--FILE--
<?php
class Custom implements Serializable
{
    function serialize() { return 'x'; }
    function unserialize($text) { echo "read $text\n"; }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
var_dump(unserialize('C:6:"Custom":-1:{x}'));
?>
--EXPECTF--
Warning: Insufficient data for unserializing - -1 required, 2 present in %s on line %d

%s: unserialize(): Error at offset 17 of 19 bytes in %s on line %d
bool(false)

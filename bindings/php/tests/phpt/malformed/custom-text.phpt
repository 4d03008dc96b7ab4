--TEST--
A C: payload must have the length that the text states
--FILE--
<?php
class Custom implements Serializable
{
    function serialize() { return 'x'; }
    function unserialize($text) { echo "read $text\n"; }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
var_dump(unserialize('C:6:"Custom":5:{x}'), unserialize('C:6:"Custom":0:}'));
?>
--EXPECTF--
Warning: Insufficient data for unserializing - 5 required, 2 present in %s on line %d

%s: unserialize(): Error at offset 16 of 18 bytes in %s on line %d

%s: unserialize(): Error at offset 15 of 16 bytes in %s on line %d
bool(false)
bool(false)

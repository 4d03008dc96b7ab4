--TEST--
The payload of a C: object may be empty
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return ''; }
    function unserialize($text) { var_dump($text); }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
unserialize('C:4:"Text":0:{}');
?>
--EXPECT--
string(0) ""

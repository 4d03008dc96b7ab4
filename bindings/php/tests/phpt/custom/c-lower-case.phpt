--TEST--
The class name of a C: object matches without regard to case
--FILE--
<?php
class Text implements Serializable
{
    function serialize() { return ''; }
    function unserialize($text) { echo "read $text\n"; }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
echo get_class(unserialize('C:4:"tExT":2:{ab}')), "\n";
?>
--EXPECT--
read ab
Text

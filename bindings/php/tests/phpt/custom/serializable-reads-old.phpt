--TEST--
A class with Serializable and the magic methods still reads C:
--FILE--
<?php
class Both implements Serializable
{
    public $from = '';

    function serialize() { return 'old'; }
    function unserialize($text) { $this->from = $text; }
    function __serialize(): array { return ['new']; }
    function __unserialize(array $data): void { $this->from = $data[0]; }
}
var_dump(unserialize('C:4:"Both":3:{abc}')->from);
?>
--EXPECT--
string(3) "abc"

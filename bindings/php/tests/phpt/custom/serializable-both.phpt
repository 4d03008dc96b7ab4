--TEST--
A class with Serializable and the magic methods is written by the magic methods
--FILE--
<?php
class Both implements Serializable
{
    public $from = '';

    function serialize() { echo "old\n"; return 'old'; }
    function unserialize($text) { echo "old\n"; $this->from = $text; }
    function __serialize(): array { return ['new']; }
    function __unserialize(array $data): void { $this->from = $data[0]; }
}
echo $s = serialize(new Both), "\n";
var_dump(unserialize($s)->from);
?>
--EXPECT--
O:4:"Both":1:{i:0;s:3:"new";}
string(3) "new"

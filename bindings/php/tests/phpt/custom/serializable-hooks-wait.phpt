--TEST--
A hook of an object in a payload runs at the end of the outer reading
--FILE--
<?php
class Text implements Serializable
{
    public $in;

    function serialize() { return ''; }
    function unserialize($text)
    {
        echo "text begins\n";
        $this->in = unserialize($text);
        echo "text ends\n";
    }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
class Wakes
{
    function __wakeup() { echo "wakeup\n"; }
}
unserialize('a:2:{i:0;C:4:"Text":16:{O:5:"Wakes":0:{}}i:1;O:5:"Wakes":0:{}}');
?>
--EXPECT--
text begins
text ends
wakeup
wakeup

--TEST--
A payload of C: that calls unserialize without a list uses the outer list
--FILE--
<?php
class Text implements Serializable
{
    public $in;

    function serialize() { return ''; }
    function unserialize($text) { $this->in = unserialize($text); }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
$o = unserialize('C:4:"Text":19:{O:8:"stdClass":0:{}}', ['allowed_classes' => ['Text']]);
echo get_class($o->in), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class

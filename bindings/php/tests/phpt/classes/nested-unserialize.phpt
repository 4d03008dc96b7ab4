--TEST--
The list does not apply to a call inside a hook
--FILE--
<?php
class Outer
{
    public $text = 'O:8:"stdClass":0:{}';
    public $in;

    function __wakeup() { $this->in = unserialize($this->text); }
}
$o = unserialize(serialize(new Outer), ['allowed_classes' => ['Outer']]);
echo get_class($o->in), "\n";
?>
--EXPECT--
stdClass

--TEST--
A nested call has its own max_depth
--FILE--
<?php
class Reads
{
    public $text;
    public $value;

    function __wakeup() { $this->value = unserialize($this->text, ['max_depth' => 10]); }
}
$text = fn ($n) => str_repeat('a:1:{i:0;', $n) . 'i:1;' . str_repeat('}', $n);
$o = new Reads;
$o->text = $text(8);
var_dump(is_array(unserialize(serialize($o), ['max_depth' => 2])->value));
?>
--EXPECT--
bool(true)

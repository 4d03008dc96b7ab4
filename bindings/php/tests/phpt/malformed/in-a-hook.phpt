--TEST--
A malformed text in a hook does not fail the outer reading
--FILE--
<?php
class Outer
{
    public $text = 'broken';
    public $value = 'unset';

    function __wakeup()
    {
        $this->value = @unserialize($this->text);
    }
}
$o = unserialize(serialize([new Outer, 5]));
var_dump($o[0]->value, $o[1]);
?>
--EXPECT--
bool(false)
int(5)

--TEST--
Hooks may read and write in each other, fifteen levels deep
--FILE--
<?php
class Level
{
    public $n;
    public $text = '';

    function __construct($n) { $this->n = $n; }
    function __sleep()
    {
        $this->text = $this->n > 0 ? serialize(new Level($this->n - 1)) : 'end';
        return ['n', 'text'];
    }
    function __wakeup()
    {
        $this->text = $this->n > 0 ? unserialize($this->text) : $this->text;
    }
}
$o = unserialize(serialize(new Level(15)));
for ($depth = 0; $o instanceof Level && $o->n > 0; $depth++) {
    $o = $o->text;
}
var_dump($depth, $o->text);
?>
--EXPECT--
int(15)
string(3) "end"

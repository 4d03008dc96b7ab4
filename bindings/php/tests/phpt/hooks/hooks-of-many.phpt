--TEST--
Hooks of five thousand objects are called
--FILE--
<?php
class Small
{
    static $count = 0;
    public $n = 1;

    function __wakeup() { self::$count += $this->n; }
}
$v = unserialize(serialize(array_map(fn () => new Small, range(1, 5000))));
var_dump(count($v), Small::$count);
?>
--EXPECT--
int(5000)
int(5000)

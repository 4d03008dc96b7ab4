--TEST--
A hook may use a generator
--FILE--
<?php
class Yields
{
    public $n;

    function __wakeup() { foreach ((function () { yield 1; yield 2; })() as $n) $this->n += $n; }
}
var_dump(unserialize('O:6:"Yields":1:{s:1:"n";i:0;}')->n);
?>
--EXPECT--
int(3)

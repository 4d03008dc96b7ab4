--TEST--
The cycle collector may run inside a hook
--FILE--
<?php
class Collects
{
    public $self;

    function __wakeup() { gc_collect_cycles(); }
}
$v = unserialize('a:2:{i:0;O:8:"Collects":1:{s:4:"self";r:2;}i:1;O:8:"Collects":1:{s:4:"self";r:4;}}');
var_dump($v[0]->self === $v[0], $v[1]->self === $v[1]);
unset($v);
var_dump(gc_collect_cycles());
?>
--EXPECT--
bool(true)
bool(true)
int(2)

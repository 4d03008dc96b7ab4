--TEST--
Cycles of a text that could not be read are collected
--FILE--
<?php
class Node
{
    public $self;
}
@unserialize('a:2:{i:0;O:4:"Node":1:{s:4:"self";r:2;}i:1;x}');
gc_collect_cycles();
var_dump(gc_collect_cycles());
?>
--EXPECT--
int(0)

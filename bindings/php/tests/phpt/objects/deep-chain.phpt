--TEST--
A chain of a thousand objects survives a round trip
--FILE--
<?php
class Node
{
    public $next;
}
$first = null;
for ($i = 0; $i < 1000; $i++) {
    $node = new Node;
    $node->next = $first;
    $first = $node;
}
$back = unserialize(serialize($first));
for ($n = 0; $back; $n++) {
    $back = $back->next;
}
var_dump($n);
?>
--EXPECT--
int(1000)

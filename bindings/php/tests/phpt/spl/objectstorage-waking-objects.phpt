--TEST--
Hooks of objects in a storage run before the storage is filled
--FILE--
<?php
class Waking
{
    public $n = 0;

    function __wakeup() { $this->n++; }
}
$o = new SplObjectStorage;
$o[new Waking] = 'x';
foreach (unserialize(serialize($o)) as $object) {
    var_dump($object->n);
}
?>
--EXPECT--
int(1)

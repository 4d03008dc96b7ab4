--TEST--
A hook may empty the storage that contains its object
--FILE--
<?php
class Hook
{
    public $storage;

    function __serialize(): array
    {
        $this->storage->removeAll($this->storage);
        return [];
    }
}
$s = new SplObjectStorage;
$h = new Hook;
$h->storage = $s;
$s[$h] = ['data'];
$s[new stdClass] = 1;
echo serialize($s), ' ', count($s), "\n";
?>
--EXPECT--
O:16:"SplObjectStorage":2:{i:0;a:4:{i:0;O:4:"Hook":0:{}i:1;a:1:{i:0;s:4:"data";}i:2;O:8:"stdClass":0:{}i:3;i:1;}i:1;a:0:{}} 0

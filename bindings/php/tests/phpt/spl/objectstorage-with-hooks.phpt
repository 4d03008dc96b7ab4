--TEST--
getHash of a child of SplObjectStorage is used after reading
--FILE--
<?php
class ByName extends SplObjectStorage
{
    function getHash($object): string { return $object->name; }
}
$o = new ByName;
$o[(object) ['name' => 'a']] = 1;
$b = unserialize(serialize($o));
var_dump(isset($b[(object) ['name' => 'a']]), count($b));
?>
--EXPECT--
bool(true)
int(1)

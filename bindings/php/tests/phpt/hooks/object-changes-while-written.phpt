--TEST--
A hook may change the object that contains its own
--FILE--
<?php
class Changes
{
    public $owner;

    function __serialize(): array
    {
        $this->owner->b = 'changed';
        return [];
    }
}
$o = new stdClass;
$o->a = new Changes;
$o->b = 'as it was';
$o->a->owner = $o;
echo serialize($o), "\n";
?>
--EXPECT--
O:8:"stdClass":2:{s:1:"a";O:7:"Changes":0:{}s:1:"b";s:9:"as it was";}

--TEST--
__sleep may remove its object from the value that is being written
--FILE--
<?php
class Sleeper
{
    public $n = 1;
    public $owner;

    function __sleep()
    {
        $this->owner->s = null;
        return ['n'];
    }
}
$o = new stdClass;
$o->s = new Sleeper;
$o->s->owner = $o;
$o->z = 1;
echo serialize($o), "\n";
?>
--EXPECT--
O:8:"stdClass":2:{s:1:"s";O:7:"Sleeper":1:{s:1:"n";i:1;}s:1:"z";i:1;}

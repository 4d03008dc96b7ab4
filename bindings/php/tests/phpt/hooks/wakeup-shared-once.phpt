--TEST--
__wakeup of an object that occurs twice is called once
--FILE--
<?php
class Once
{
    function __wakeup() { echo "wakeup\n"; }
}
$o = new Once;
unserialize(serialize([$o, $o, [$o]]));
?>
--EXPECT--
wakeup

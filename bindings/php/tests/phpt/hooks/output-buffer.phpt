--TEST--
Output of hooks goes into an open output buffer
--FILE--
<?php
class Talks
{
    function __sleep() { echo 'sleep'; return []; }
    function __wakeup() { echo 'wakeup'; }
}
ob_start();
unserialize(serialize(new Talks));
echo strtoupper(ob_get_clean()), "\n";
?>
--EXPECT--
SLEEPWAKEUP

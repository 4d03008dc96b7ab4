--TEST--
What a backtrace in a hook shows
--FILE--
<?php
class Traces
{
    function __wakeup()
    {
        foreach (debug_backtrace() as $call) {
            echo ($call['class'] ?? '') . ($call['type'] ?? '') . $call['function'], "\n";
        }
    }
}
unserialize('a:1:{i:0;O:6:"Traces":0:{}}');
?>
--EXPECT--
Traces->__wakeup
unserialize

--TEST--
A backtrace in a hook shows the calls as in PHP
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

--TEST--
No hook runs after a wrong type has ended the reading
--FILE--
<?php
class Typed
{
    public int $i = 0;
}
class Wakes
{
    function __wakeup() { echo "wakeup\n"; }
}
try {
    unserialize('a:2:{i:0;O:5:"Wakes":0:{}i:1;O:5:"Typed":1:{s:1:"i";N;}}');
} catch (TypeError $e) {
    echo get_class($e), "\n";
}
?>
--EXPECT--
TypeError

--TEST--
Cases are looked up while the text is read, hooks run later
--FILE--
<?php
spl_autoload_register(function ($name) {
    echo "load $name\n";
    eval("enum $name { case One; }");
});
class Wakes
{
    function __wakeup() { echo "wakeup\n"; }
}
unserialize('a:2:{i:0;O:5:"Wakes":0:{}i:1;E:10:"Loaded:One";}');
?>
--EXPECT--
load Loaded
wakeup

--TEST--
A value that a typed property refuses is destroyed first
--FILE--
<?php
class Typed
{
    public int $i = 0;
    function __destruct() { echo "typed\n"; }
}
class Noisy
{
    function __destruct() { echo "noisy\n"; }
}
class Wakes
{
    function __wakeup() { echo "never\n"; }
    function __destruct() { echo "never\n"; }
}
class Outer
{
    public $a;
    public $b;
    function __destruct() { echo "outer\n"; }
}
foreach (['O:5:"Noisy":0:{}', 'a:1:{i:0;O:5:"Noisy":0:{}}', 'N;'] as $value) {
    try {
        unserialize('O:5:"Outer":2:{s:1:"a";O:5:"Wakes":0:{}s:1:"b";O:5:"Typed":1:{s:1:"i";' . $value . '}}');
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
noisy
outer
typed
Cannot assign Noisy to property Typed::$i of type int
noisy
outer
typed
Cannot assign array to property Typed::$i of type int
outer
typed
Cannot assign null to property Typed::$i of type int

--TEST--
No hook runs for a class that is not allowed
--FILE--
<?php
class Hooked
{
    function __wakeup() { echo "wakeup\n"; }
    function __destruct() { echo "destroyed\n"; }
}
class Takes
{
    function __unserialize(array $data): void { echo "unserialize\n"; }
}
$v = unserialize('a:2:{i:0;O:6:"Hooked":0:{}i:1;O:5:"Takes":1:{i:0;i:5;}}', ['allowed_classes' => false]);
var_dump(count($v));
?>
--EXPECT--
int(2)

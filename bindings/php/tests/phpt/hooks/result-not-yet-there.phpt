--TEST--
A hook can't see the result of the call in which it runs
--FILE--
<?php
class Looks
{
    function __wakeup() { var_dump(isset($GLOBALS['v'])); }
}
$v = unserialize('a:1:{i:0;O:5:"Looks":0:{}}');
var_dump(count($v));
?>
--EXPECT--
bool(false)
int(1)

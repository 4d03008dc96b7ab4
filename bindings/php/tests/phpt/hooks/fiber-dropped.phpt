--TEST--
A fiber may be dropped while its reading waits in a hook
--FILE--
<?php
class Waits
{
    function __wakeup() { Fiber::suspend(); }
}
for ($i = 0; $i < 3; $i++) {
    $fiber = new Fiber(fn () => unserialize('a:2:{i:0;O:5:"Waits":0:{}i:1;O:5:"Waits":0:{}}'));
    $fiber->start();
    unset($fiber);
}
var_dump(unserialize('a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}')[1]);
?>
--EXPECTF--
object(stdClass)#%d (0) {
}

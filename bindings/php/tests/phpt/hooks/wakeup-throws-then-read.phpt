--TEST--
After an exception of a hook the next reading works
--FILE--
<?php
class Throws
{
    function __wakeup() { throw new DomainException('x'); }
}
for ($i = 0; $i < 3; $i++) {
    try {
        unserialize('a:2:{i:0;O:8:"stdClass":0:{}i:1;O:6:"Throws":0:{}}');
    } catch (DomainException $e) {
        $v = unserialize('a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}');
        var_dump($v[0] === $v[1]);
    }
}
?>
--EXPECT--
bool(true)
bool(true)
bool(true)

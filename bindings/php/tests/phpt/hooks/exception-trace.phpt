--TEST--
The trace of an exception in a hook shows the calls as in PHP
--FILE--
<?php
class Throws
{
    function __serialize(): array { throw new Exception('x'); }
}
try {
    serialize([new Throws]);
} catch (Exception $e) {
    echo implode(' ', array_column($e->getTrace(), 'function')), "\n";
}
?>
--EXPECT--
__serialize serialize

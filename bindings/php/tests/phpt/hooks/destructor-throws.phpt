--TEST--
An exception of a destructor that runs in a hook is thrown
--FILE--
<?php
class Part
{
    function __destruct() { throw new DomainException('from the destructor'); }
}
class Holder
{
    public $in;

    function __wakeup() { $this->in = null; }
}
try {
    unserialize('O:6:"Holder":1:{s:2:"in";O:4:"Part":0:{}}');
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
from the destructor

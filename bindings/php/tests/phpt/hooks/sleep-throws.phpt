--TEST--
An exception in __sleep ends the writing
--FILE--
<?php
class Throws
{
    function __sleep() { throw new DomainException('from sleep'); }
}
try {
    serialize([1, new Throws, 2]);
} catch (DomainException $e) {
    echo $e->getMessage(), "\n";
}
echo serialize([1]), "\n";
?>
--EXPECT--
from sleep
a:1:{i:0;i:1;}

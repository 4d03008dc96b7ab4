--TEST--
Children of a refused class are refused
--FILE--
<?php
class Child extends SplFileInfo
{
    function __serialize(): array { return []; }
}
try {
    echo serialize(new Child('x')), "\n";
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'Child' is not allowed

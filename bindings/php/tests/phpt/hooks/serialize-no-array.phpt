--TEST--
__serialize must return an array
--FILE--
<?php
class Wrong
{
    function __serialize()
    {
        return 'text';
    }
}
try {
    serialize([1, new Wrong]);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Wrong::__serialize() must return an array

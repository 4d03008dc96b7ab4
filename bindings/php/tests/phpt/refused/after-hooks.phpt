--TEST--
Hooks of earlier objects have run when a value is refused
--FILE--
<?php
class Says
{
    function __serialize(): array { echo "serialize\n"; return []; }
}
try {
    serialize([new Says, fn () => 1, new Says]);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
serialize
Serialization of 'Closure' is not allowed

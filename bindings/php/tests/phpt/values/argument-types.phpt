--TEST--
unserialize takes a string and converts scalars
--FILE--
<?php
var_dump(@unserialize(5), unserialize(new class { function __toString() { return 'i:3;'; } }));
try {
    unserialize([]);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
try {
    unserialize();
} catch (ArgumentCountError $e) {
    echo $e->getMessage(), "\n";
}
try {
    serialize();
} catch (ArgumentCountError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
bool(false)
int(3)
unserialize(): Argument #1 ($data) must be of type string, array given
unserialize() expects at least 1 argument, 0 given
serialize() expects exactly 1 argument, 0 given

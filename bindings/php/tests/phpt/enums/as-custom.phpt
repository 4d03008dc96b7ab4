--TEST--
An enum cannot be read as custom text
--FILE--
<?php
enum Suit
{
    case Hearts;
}
try {
    var_dump(unserialize('C:4:"Suit":0:{}'));
} catch (Throwable $e) {
    echo get_class($e), ': ', $e->getMessage(), "\n";
}
?>
--EXPECTF--
Warning: Class Suit has no unserializer in %s on line %d
Error: Cannot instantiate enum Suit

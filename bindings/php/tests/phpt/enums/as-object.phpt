--TEST--
An enum cannot be read as an object
--FILE--
<?php
enum Suit
{
    case Hearts;
}
try {
    var_dump(unserialize('O:4:"Suit":0:{}'));
} catch (Throwable $e) {
    echo get_class($e), ': ', $e->getMessage(), "\n";
}
?>
--EXPECT--
Error: Cannot instantiate enum Suit

--TEST--
A typed property may refer to its own object, and keeps its type
--FILE--
<?php
class Loop
{
    public ?Loop $loop = null;
}
$o = unserialize('O:4:"Loop":1:{s:4:"loop";R:1;}');
var_dump($o->loop === $o);
try {
    $o->loop = new stdClass;
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
bool(true)
Cannot assign stdClass to property Loop::$loop of type ?Loop

--TEST--
Types are strict: numbers and strings are not converted to each other
--FILE--
<?php
class Typed
{
    public int $i = 0;
    public string $s = '';
    public bool $b = false;
}
foreach (['s:1:"i";s:1:"5";', 's:1:"s";i:5;', 's:1:"b";i:1;', 's:1:"i";d:1;'] as $property) {
    try {
        unserialize("O:5:\"Typed\":1:{{$property}}");
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Cannot assign string to property Typed::$i of type int
Cannot assign int to property Typed::$s of type string
Cannot assign int to property Typed::$b of type bool
Cannot assign float to property Typed::$i of type int

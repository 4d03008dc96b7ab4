--TEST--
A property with the type of a missing class accepts only null
--FILE--
<?php
class Holder
{
    public ?NoSuchClass $x = null;
}
var_dump(unserialize('O:6:"Holder":1:{s:1:"x";N;}')->x);
try {
    unserialize('O:6:"Holder":1:{s:1:"x";O:8:"stdClass":0:{}}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
NULL
Cannot assign stdClass to property Holder::$x of type ?NoSuchClass

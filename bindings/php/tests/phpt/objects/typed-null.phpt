--TEST--
null for a property that is not nullable throws an error
--FILE--
<?php
class Typed
{
    public string $s = '';
    public ?string $n = 'x';
}
var_dump(unserialize('O:5:"Typed":1:{s:1:"n";N;}')->n);
try {
    unserialize('O:5:"Typed":1:{s:1:"s";N;}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
NULL
Cannot assign null to property Typed::$s of type string

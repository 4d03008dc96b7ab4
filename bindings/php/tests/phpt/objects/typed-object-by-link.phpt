--TEST--
A linked object must fit the type of its second property too
--FILE--
<?php
class A
{
}
class Holder
{
    public ?A $a = null;
}
var_dump(unserialize('a:2:{i:0;O:1:"A":0:{}i:1;O:6:"Holder":1:{s:1:"a";r:2;}}')[1]->a instanceof A);
try {
    unserialize('a:2:{i:0;O:8:"stdClass":0:{}i:1;O:6:"Holder":1:{s:1:"a";r:2;}}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
bool(true)
Cannot assign stdClass to property Holder::$a of type ?A

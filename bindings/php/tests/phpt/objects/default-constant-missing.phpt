--TEST--
A default with a missing constant throws an error
--FILE--
<?php
class Defaults
{
    public $a = NO_SUCH_CONSTANT;
}
try {
    unserialize('O:8:"Defaults":0:{}');
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Undefined constant "NO_SUCH_CONSTANT"

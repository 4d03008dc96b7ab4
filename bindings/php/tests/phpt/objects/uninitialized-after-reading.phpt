--TEST--
A typed property that the text lacks has no value
--FILE--
<?php
class Late
{
    public int $a;
}
$o = unserialize('O:4:"Late":0:{}');
try {
    $o->a;
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
var_dump((new ReflectionProperty('Late', 'a'))->isInitialized($o));
?>
--EXPECT--
Typed property Late::$a must not be accessed before initialization
bool(false)

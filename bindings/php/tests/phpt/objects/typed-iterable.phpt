--TEST--
An iterable property accepts arrays and refuses integers
--FILE--
<?php
class Holder
{
    public iterable $x = [];
}
var_dump(count(unserialize('O:6:"Holder":1:{s:1:"x";a:2:{i:0;i:1;i:1;i:2;}}')->x));
try {
    unserialize('O:6:"Holder":1:{s:1:"x";i:1;}');
} catch (TypeError $e) {
    echo preg_replace('/of type .*/', 'of type …', $e->getMessage()), "\n";
}
?>
--EXPECT--
int(2)
Cannot assign int to property Holder::$x of type …

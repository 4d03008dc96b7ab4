--TEST--
The name of a static property in the text makes a dynamic property
--FILE--
<?php
#[AllowDynamicProperties]
class WithStatic
{
    public static $s = 'static';
}
$o = unserialize('O:10:"WithStatic":1:{s:1:"s";i:5;}');
var_dump(WithStatic::$s, ((array) $o)['s']);
?>
--EXPECT--
string(6) "static"
int(5)

--TEST--
An integer name and the same name as a string are one property
--FILE--
<?php
#[AllowDynamicProperties]
class Open
{
}
$o = unserialize('O:4:"Open":2:{i:5;s:1:"a";s:1:"5";s:1:"b";}');
var_dump(count((array) $o), $o->{'5'});
echo serialize($o), "\n";
?>
--EXPECT--
int(1)
string(1) "b"
O:4:"Open":1:{s:1:"5";s:1:"b";}

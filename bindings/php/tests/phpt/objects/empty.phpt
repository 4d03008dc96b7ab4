--TEST--
An object without properties survives a round trip
--FILE--
<?php
class Nothing
{
}
echo $s = serialize(new Nothing), "\n";
var_dump(unserialize($s));
?>
--EXPECTF--
O:7:"Nothing":0:{}
object(Nothing)#%d (0) {
}

--TEST--
Class names may begin with an underscore and contain digits
--FILE--
<?php
class _1
{
}
class A1_b2
{
}
echo serialize([new _1, new A1_b2]), "\n";
var_dump(unserialize('O:2:"_1":0:{}'));
?>
--EXPECTF--
a:2:{i:0;O:2:"_1":0:{}i:1;O:5:"A1_b2":0:{}}
object(_1)#%d (0) {
}

--TEST--
A C: object of a missing class becomes incomplete, with a warning
--FILE--
<?php
var_dump(unserialize('C:4:"None":2:{ab}'));
?>
--EXPECTF--
Warning: Class __PHP_Incomplete_Class has no unserializer in %s on line %d
object(__PHP_Incomplete_Class)#%d (1) {
  ["__PHP_Incomplete_Class_Name"]=>
  string(4) "None"
}

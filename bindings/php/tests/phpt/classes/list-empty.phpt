--TEST--
An empty list allows nothing
--FILE--
<?php
var_dump(get_class(unserialize('O:8:"stdClass":0:{}', ['allowed_classes' => []])));
?>
--EXPECT--
string(22) "__PHP_Incomplete_Class"

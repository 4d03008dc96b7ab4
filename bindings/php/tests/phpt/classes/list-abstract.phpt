--TEST--
An abstract class that no list allows becomes incomplete
--FILE--
<?php
abstract class Shape
{
}
var_dump(get_class(unserialize('O:5:"Shape":0:{}', ['allowed_classes' => []])));
?>
--EXPECT--
string(22) "__PHP_Incomplete_Class"

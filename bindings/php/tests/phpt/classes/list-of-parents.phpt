--TEST--
Listing a class does not allow its children
--FILE--
<?php
class Base
{
}
class Derived extends Base
{
}
var_dump(get_class(unserialize('O:7:"Derived":0:{}', ['allowed_classes' => ['Base']])));
?>
--EXPECT--
string(22) "__PHP_Incomplete_Class"

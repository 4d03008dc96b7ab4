--TEST--
Listing an anonymous class does not make it readable
--FILE--
<?php
try {
    unserialize('O:7:"Closure":0:{}', ['allowed_classes' => ['Closure']]);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
var_dump(get_class(unserialize('O:7:"Closure":0:{}', ['allowed_classes' => false])));
?>
--EXPECT--
Unserialization of 'Closure' is not allowed
string(22) "__PHP_Incomplete_Class"

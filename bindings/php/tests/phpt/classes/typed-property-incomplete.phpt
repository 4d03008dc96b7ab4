--TEST--
An incomplete object does not fit a typed property
--FILE--
<?php
class Inner
{
}
class Outer
{
    public ?Inner $in;
}
try {
    unserialize('O:5:"Outer":1:{s:2:"in";O:5:"Inner":0:{}}', ['allowed_classes' => ['Outer']]);
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot assign __PHP_Incomplete_Class to property Outer::$in of type ?Inner

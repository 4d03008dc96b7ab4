--TEST--
allowed_classes false makes all objects incomplete
--FILE--
<?php
class Known
{
    public $a = 1;
}
$v = unserialize(serialize([new Known, new stdClass, 5]), ['allowed_classes' => false]);
echo get_class($v[0]), ' ', get_class($v[1]), " $v[2]\n";
?>
--EXPECT--
__PHP_Incomplete_Class __PHP_Incomplete_Class 5

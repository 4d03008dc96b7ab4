--TEST--
A listed name with a leading backslash does not match the class
--FILE--
<?php
class Known
{
}
echo get_class(unserialize('O:5:"Known":0:{}', ['allowed_classes' => ['\Known']])), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class

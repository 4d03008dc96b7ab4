--TEST--
A backslash before a name in a list makes it another name
--FILE--
<?php
class Known
{
}
echo get_class(unserialize('O:5:"Known":0:{}', ['allowed_classes' => ['\Known']])), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class

--TEST--
The alias of a listed class is not allowed
--FILE--
<?php
class Original
{
}
class_alias('Original', 'Shortcut');
echo get_class(unserialize('O:8:"Original":0:{}', ['allowed_classes' => ['Shortcut']])), "\n";
echo get_class(unserialize('O:8:"Shortcut":0:{}', ['allowed_classes' => ['Shortcut']])), "\n";
echo get_class(unserialize('O:8:"Shortcut":0:{}', ['allowed_classes' => ['Original']])), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class
Original
__PHP_Incomplete_Class

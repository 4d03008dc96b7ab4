--TEST--
self, static and parent have no special meaning in a list
--FILE--
<?php
class Known
{
    static function read() { return unserialize('O:5:"Known":0:{}', ['allowed_classes' => ['self', 'static']]); }
}
echo get_class(Known::read()), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class

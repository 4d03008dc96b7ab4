--TEST--
A list must name a class with its namespace
--FILE--
<?php
namespace App;
class Known
{
}
echo get_class(unserialize('O:9:"App\Known":0:{}', ['allowed_classes' => [Known::class]])), "\n";
echo get_class(unserialize('O:9:"App\Known":0:{}', ['allowed_classes' => ['Known']])), "\n";
?>
--EXPECT--
App\Known
__PHP_Incomplete_Class

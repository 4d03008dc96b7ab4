--TEST--
Names of a namespace in a list
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

--TEST--
Items of allowed_classes are converted to strings
--SKIPIF--
<?php
if (PHP_VERSION_ID >= 80400) die('skip changed in PHP 8.4, which says that items must be names');
?>
--FILE--
<?php
class Named
{
    function __toString() { return 'stdClass'; }
}
var_dump(get_class(unserialize('O:8:"stdClass":0:{}', ['allowed_classes' => [new Named, 5, true]])));
?>
--EXPECT--
string(8) "stdClass"

--TEST--
PHP's own classes must be listed too
--FILE--
<?php
$v = unserialize(serialize([new ArrayObject([1]), new DateTime('2020-01-01')]), ['allowed_classes' => ['DateTime']]);
echo get_class($v[0]), ' ', get_class($v[1]), "\n";
?>
--EXPECT--
__PHP_Incomplete_Class DateTime

--TEST--
An abstract class can't be read
--FILE--
<?php
abstract class Shape
{
}
try {
    unserialize('O:5:"Shape":0:{}');
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Cannot instantiate abstract class Shape

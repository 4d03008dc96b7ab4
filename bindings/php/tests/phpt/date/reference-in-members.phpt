--TEST--
A DateTime whose property is a reference is refused
--FILE--
<?php
try {
    unserialize('a:2:{i:0;s:19:"2001-02-03 04:05:06";i:1;O:8:"DateTime":3:{s:4:"date";R:2;s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";}}');
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Invalid serialization data for DateTime object

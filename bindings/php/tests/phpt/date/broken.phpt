--TEST--
A DateTime with missing or invalid properties throws an error
--FILE--
<?php
foreach (['0:{}', '1:{s:4:"date";s:10:"2020-01-01";}', '3:{s:4:"date";s:1:"x";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";}', '3:{s:4:"date";s:10:"2020-01-01";s:13:"timezone_type";i:9;s:8:"timezone";s:3:"UTC";}'] as $rest) {
    try {
        unserialize('O:8:"DateTime":' . $rest);
        echo "read\n";
    } catch (Error $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Invalid serialization data for DateTime object
Invalid serialization data for DateTime object
read
Invalid serialization data for DateTime object

--TEST--
A DateTimeZone with an unknown zone throws an error
--FILE--
<?php
try {
    unserialize('O:12:"DateTimeZone":2:{s:13:"timezone_type";i:3;s:8:"timezone";s:4:"Nope";}');
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
%AInvalid serialization data for DateTimeZone object

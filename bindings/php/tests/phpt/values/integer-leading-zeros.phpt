--TEST--
An integer may have leading zeros and is decimal
--FILE--
<?php
var_dump(unserialize('i:007;'), unserialize('i:-00010;'));
?>
--EXPECT--
int(7)
int(-10)

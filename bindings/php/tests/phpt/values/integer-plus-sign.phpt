--TEST--
An integer may have a plus sign
--FILE--
<?php
var_dump(unserialize('i:+5;'));
?>
--EXPECT--
int(5)

--TEST--
A length may have a plus sign or leading zeros
--FILE--
<?php
var_dump(@unserialize('s:+3:"abc";'), @unserialize('s:003:"abc";'));
?>
--EXPECT--
bool(false)
string(3) "abc"

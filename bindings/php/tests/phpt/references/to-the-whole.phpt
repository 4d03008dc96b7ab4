--TEST--
R:1 refers to the whole value
--FILE--
<?php
$v = unserialize('a:1:{i:0;R:1;}');
var_dump(is_array($v[0]), isset($v[0][0][0]));
?>
--EXPECT--
bool(true)
bool(true)

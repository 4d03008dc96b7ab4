--TEST--
Closures are exported without what they do
--FILE--
<?php
var_export(fn () => 1);
?>
--EXPECT--
\Closure::__set_state(array(
))
